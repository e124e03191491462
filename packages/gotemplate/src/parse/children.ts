/** The nodes inside a node, for those who look at a whole tree. */
import type { Node } from './nodes.ts';

export function children(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'list':
      return node.nodes;
    case 'action':
      return [node.pipe];
    case 'if':
    case 'with':
    case 'range':
      return [node.pipe, node.list, ...(node.elseList ? [node.elseList] : [])];
    case 'template':
      return node.pipe ? [node.pipe] : [];
    case 'pipe':
      return node.cmds;
    case 'command':
      return node.args;
    case 'chain':
      return [node.node];
    default:
      return [];
  }
}
