import type { PodGang } from '../../api/pod-gang.ts';

/** What a watch tells of a PodGang, as much as the filters need. `generic`: neither, such as a tick of a timer. */
export type GangEvent<T> =
  | { readonly type: 'create' | 'delete' | 'generic'; readonly object: T }
  | { readonly type: 'update'; readonly before: T; readonly after: T };

type Versioned = Pick<PodGang, 'labels'> & { readonly generation: number };

/**
 * Whether a backend is asked to keep its objects in step: on creation and deletion always, on an update only when
 * the spec changed, for status and labels do not bump the generation. After a restart every gang arrives as
 * created, so what a backend does must be idempotent.
 * @param managed which gangs take part at all; an update counts where the gang took part before and does now
 */
export function backendWants<T extends Versioned>(
  event: GangEvent<T>,
  managed: (gang: T) => boolean = () => true,
): boolean {
  switch (event.type) {
    case 'create':
    case 'delete':
      return managed(event.object);
    case 'update':
      return (
        managed(event.before) && managed(event.after) && event.before.generation !== event.after.generation
      );
    case 'generic':
      return false;
  }
}
