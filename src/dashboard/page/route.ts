/** Pages beside the gangs, in the order of the navigation. */
export const OTHER_PAGES = { load: 'Load', queues: 'Queues', fleet: 'Fleet', backends: 'Backends' } as const;

export type OtherPageName = keyof typeof OTHER_PAGES;

/** What the address asks for: everything that is shown can be sent to others as a link. */
export type Route =
  | { readonly page: 'gangs'; readonly search: string; readonly state: string }
  | { readonly page: 'gang'; readonly namespace: string; readonly name: string }
  | { readonly page: OtherPageName };

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
  const [, page = '', namespace, name] = path.split('/').map(decoded);
  if (Object.hasOwn(OTHER_PAGES, page)) return { page: page as OtherPageName };
  if (page === 'gangs' && namespace && name) return { page: 'gang', namespace, name };
  const given = new URLSearchParams(query);
  return { page: 'gangs', search: given.get('search') ?? '', state: given.get('state') ?? '' };
}

export function hashOf(route: Route): string {
  if (route.page === 'gang')
    return `#/gangs/${encodeURIComponent(route.namespace)}/${encodeURIComponent(route.name)}`;
  if (route.page !== 'gangs') return `#/${route.page}`;
  const query = new URLSearchParams();
  if (route.search !== '') query.set('search', route.search);
  if (route.state !== '') query.set('state', route.state);
  return `#/gangs${query.size === 0 ? '' : `?${query.toString()}`}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
