/** What a TLS socket needs to know; PEM texts. */
export interface ConnectionTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Where the API server is and how we prove who we are. */
export interface Connection {
  /** `https://host:port`, with a path where the server lies below one. */
  readonly server: string;
  readonly tls: ConnectionTls;
  /** Namespace of the kubeconfig's context, or of our own Pod. */
  readonly namespace: string | undefined;
  /** Where all this was found, for messages. */
  readonly source: string;
  /** Headers for one request. Asked every time, since tokens rotate. */
  headers(): Promise<Readonly<Record<string, string | string[]>>>;
  /** The server answered 401: what is cached must not be used again. @returns whether a second try makes sense */
  refresh(): boolean;
}
