{{/* What cannot work is refused before anything is applied. */}}
{{- define "curfew.check" -}}
{{- if ne .Release.Namespace "curfew" }}
{{- fail (printf "Curfew works in the namespace curfew alone, which its functions and the Pod Identity association know, not in %s: add --namespace curfew." .Release.Namespace) }}
{{- end }}
{{- $_ := required "settings.CLUSTER_NAME must be set: the name of the EKS cluster, as in the CDK context." .Values.settings.CLUSTER_NAME }}
{{- $_ = required "settings.EVENT_BUS_NAME must be set: output EventBusName of the functions stack." .Values.settings.EVENT_BUS_NAME }}
{{- $_ = required "settings.AWS_REGION must be set: the AWS Region of the event bus." .Values.settings.AWS_REGION }}
{{- $_ = required "image.repository must be set: where you pushed the image that forwarder/Dockerfile builds." .Values.image.repository }}
{{- end }}

{{- define "curfew.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}
