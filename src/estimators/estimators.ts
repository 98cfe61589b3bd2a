import { readFile } from 'node:fs/promises';
import { Client, credentials, Metadata, status, type ChannelCredentials } from '@grpc/grpc-js';
import { messageOf } from '../errors.ts';
import { decodeAnswer, encodeEstimateRequest, methods, type EstimateRequest } from './questions.ts';

/** The address of the estimators, and the connection settings. */
export interface EstimatorSettings {
  /** Host and port; `{cluster}` is replaced by the cluster's name. */
  readonly address: string;
  /** Timeout (ms) of all requests for one binding together. */
  readonly timeoutMs: number;
  /** Absent: without TLS. */
  readonly tls?:
    | {
        readonly caFile: string;
        readonly certFile?: string | undefined;
        readonly keyFile?: string | undefined;
      }
    | undefined;
}

/** Reports answers to log and metrics. Must not throw. */
export interface EstimatorObserver {
  /** @param result `resting`: the estimator was not asked because it failed to answer a moment ago */
  asked(result: 'answered' | 'failed' | 'resting'): void;
  /** Called once for each pause of an estimator. */
  failed(cluster: string, why: string): void;
}

/** An estimator that failed to answer is not asked for this long (ms), so that no other binding waits for it. */
const REST_MS = 30_000;
/** Concurrent requests for one binding. */
const AT_A_TIME = 32;
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * The estimators of a fleet, one for each cluster. A connection is opened at a cluster's first request, kept, and
 * opened again after a failure with the certificates of that time.
 */
export class Estimators {
  readonly #settings: EstimatorSettings;
  readonly #observer: EstimatorObserver;
  readonly #now: () => number;
  readonly #clients = new Map<string, Promise<Client>>();
  /** Retry-not-before time per estimator and method. */
  readonly #resting = new Map<string, number>();
  #ended = false;

  /** @param now returns milliseconds */
  constructor(settings: EstimatorSettings, observer: EstimatorObserver, now: () => number) {
    this.#settings = settings;
    this.#observer = observer;
    this.#now = now;
  }

  /**
   * Sends the requests concurrently. Never rejects.
   * @returns an answer for each request, undefined where there is none
   */
  async ask(
    questions: readonly EstimateRequest[],
    namespace: string,
    signal: AbortSignal,
  ): Promise<(number | undefined)[]> {
    const answers: (number | undefined)[] = questions.map(() => undefined);
    const deadline = Date.now() + this.#settings.timeoutMs;
    const left = questions.entries();
    const askOneByOne = async (): Promise<void> => {
      for (const [index, question] of left) {
        if (signal.aborted || this.#ended || Date.now() >= deadline) return;
        answers[index] = await this.#one(question, { namespace, deadline, signal });
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_A_TIME, questions.length) }, askOneByOne));
    return answers;
  }

  /** Closes the connection of a cluster that is gone. */
  forget(cluster: string): void {
    this.#disconnect(cluster);
    for (const unit of ['replicas', 'sets'] as const) this.#resting.delete(keyOf(cluster, unit));
  }

  end(): void {
    this.#ended = true;
    for (const cluster of [...this.#clients.keys()]) this.#disconnect(cluster);
  }

  async #one(question: EstimateRequest, call: Call): Promise<number | undefined> {
    const { cluster, unit } = question;
    const key = keyOf(cluster, unit);
    if ((this.#resting.get(key) ?? 0) > this.#now()) {
      this.#observer.asked('resting');
      return undefined;
    }
    try {
      const answer = await this.#call(question, call);
      this.#resting.delete(key);
      this.#observer.asked('answered');
      return answer < 0 ? undefined : answer;
    } catch (error) {
      if (call.signal.aborted || this.#ended) return undefined;
      this.#observer.asked('failed');
      // Several bindings may have waited for the same estimator: only the first failure is reported.
      if ((this.#resting.get(key) ?? 0) <= this.#now()) {
        this.#resting.set(key, this.#now() + REST_MS);
        this.#observer.failed(cluster, messageOf(error));
      }
      // An estimator that does not implement this method may implement others.
      if (codeOf(error) !== status.UNIMPLEMENTED) this.#disconnect(cluster);
      return undefined;
    }
  }

  async #call(question: EstimateRequest, { namespace, deadline, signal }: Call): Promise<number> {
    const client = await this.#connected(question.cluster);
    return new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest<EstimateRequest, number>(
        methods[question.unit],
        (asked) => encodeEstimateRequest(asked, namespace),
        decodeAnswer,
        question,
        new Metadata(),
        { deadline },
        (error, answer) => {
          signal.removeEventListener('abort', cancel);
          if (error === null && answer !== undefined) resolve(answer);
          else reject(error ?? new Error('no answer'));
        },
      );
      const cancel = (): void => call.cancel();
      signal.addEventListener('abort', cancel, { once: true });
    });
  }

  #connected(cluster: string): Promise<Client> {
    const there = this.#clients.get(cluster);
    if (there !== undefined) return there;
    const address = this.#settings.address.replaceAll('{cluster}', cluster);
    const made = credentialsOf(this.#settings).then((secret) => new Client(address, secret, CHANNEL));
    this.#clients.set(cluster, made);
    return made;
  }

  #disconnect(cluster: string): void {
    const client = this.#clients.get(cluster);
    this.#clients.delete(cluster);
    client?.then(
      (one) => one.close(),
      () => undefined,
    );
  }
}

interface Call {
  readonly namespace: string;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

const CHANNEL = {
  // The subchannel is private to this connection and closed with it.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.max_receive_message_length': MAX_ANSWER_BYTES,
} as const;

const keyOf = (cluster: string, unit: EstimateRequest['unit']): string => `${unit} ${cluster}`;

async function credentialsOf({ tls }: EstimatorSettings): Promise<ChannelCredentials> {
  if (tls === undefined) return credentials.createInsecure();
  const read = async (file: string | undefined): Promise<Buffer | null> =>
    file === undefined ? null : readFile(file);
  const [ca, key, cert] = [await read(tls.caFile), await read(tls.keyFile), await read(tls.certFile)];
  return credentials.createSsl(ca, key, cert);
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
