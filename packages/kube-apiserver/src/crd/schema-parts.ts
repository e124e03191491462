/** What is wrong inside of a definition's schema: parts without a type, defaults that do not hold. */
import type { JsonObject } from '../json.ts';
import { isObject, objectAt } from '../json.ts';
import { complainAboutValue } from '../schema/validate.ts';
import type { Cause } from '../status-errors.ts';
import { required } from '../status-errors.ts';

/** @param path of the schema, such as `spec.validation.openAPIV3Schema` */
export function complainAboutParts(schema: JsonObject, path: string): Cause[] {
  const { items, additionalProperties } = schema;
  return [
    ...Object.entries(objectAt(schema, 'properties')).flatMap(([name, property]) =>
      isObject(property) ? complainAboutPart(property, `${path}.properties[${name}]`, 'object fields') : [],
    ),
    ...(isObject(items) ? complainAboutPart(items, `${path}.items`, 'array items') : []),
    ...(isObject(additionalProperties)
      ? complainAboutPart(additionalProperties, `${path}.additionalProperties`, 'object fields')
      : []),
  ];
}

function complainAboutPart(schema: JsonObject, path: string, place: string): Cause[] {
  const isUntyped = schema.type === undefined || schema.type === '';
  const isOpen =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const { default: value } = schema;
  return [
    ...(isUntyped && !isOpen ? [required(`${path}.type`, `must not be empty for specified ${place}`)] : []),
    ...(value === undefined ? [] : complainAboutValue(value, schema, `${path}.default`)),
    ...complainAboutParts(schema, path),
  ];
}
