/** The variables of one evaluation. `variables.NAME` is evaluated when it is first read, once. */
import type { JsonObject } from '../json.ts';
import { textAt } from '../json.ts';
import { EvaluationError } from '@marcbachmann/cel-js';
import type { Evaluation } from '../schema/cel-environment.ts';
import { compilePolicyExpression } from './cel.ts';

export interface Scope {
  readonly evaluate: (expression: string) => Evaluation;
}

/** Reading a variable whose expression fails throws an `EvaluationError` that names it. */
export function createScope(definitions: readonly JsonObject[], given: Readonly<Record<string, unknown>>): Scope {
  const variables = {};
  const context = { ...given, variables };
  const evaluate = (expression: string): Evaluation => compilePolicyExpression(expression)(context);
  for (const definition of definitions) {
    const name = textAt(definition, 'name') ?? '';
    let result: Evaluation | undefined;
    Object.defineProperty(variables, name, {
      enumerable: true,
      get(): unknown {
        result ??= evaluate(textAt(definition, 'expression') ?? '');
        if (result.kind === 'value') return result.value;
        throw new EvaluationError(`composited variable "${name}" fails to evaluate: ${result.message}`);
      },
    });
  }
  return { evaluate };
}
