/** What the API server accepts of terminations and FinalizerRules is what their functions read. */
import { describe, expect, it } from 'vitest';
import { parseTerminationBlock } from '../../shared/contract/termination-schema.ts';
import type { JsonObject, JsonValue } from '../../shared/domain/kubernetes-object.ts';
