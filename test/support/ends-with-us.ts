import type { ChildProcess } from 'node:child_process';

const children = new Map<ChildProcess, NodeJS.Signals>();

/** A child that is still there when this process ends is ended with it. One listener for all of them. */
export function endsWithUs<Child extends ChildProcess>(child: Child, signal: NodeJS.Signals = 'SIGKILL'): Child {
  if (children.size === 0) process.once('exit', endAll);
  children.set(child, signal);
  child.once('close', () => {
    children.delete(child);
    if (children.size === 0) process.off('exit', endAll);
  });
  return child;
}

function endAll(): void {
  for (const [child, signal] of children) child.kill(signal);
}
