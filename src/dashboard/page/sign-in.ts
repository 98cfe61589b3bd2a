import { Component, h, type JSX } from 'preact';
import { answerOf } from './words.ts';

const SESSION = '/api/v1/session';

interface Given {
  /** Why whoever was signed in is not any more. */
  readonly over: string | undefined;
}

interface Tried {
  readonly wrong?: string | undefined;
}

/** Exchanges a token for a cookie that no script can read. */
export class SignIn extends Component<Given, Tried> {
  override state: Tried = {};

  async #submit(form: HTMLFormElement): Promise<void> {
    const token = new FormData(form).get('token');
    try {
      const authorization = `Bearer ${typeof token === 'string' ? token.trim() : ''}`;
      await answerOf(SESSION, { method: 'POST', headers: { authorization } });
      location.reload();
    } catch (error) {
      this.setState({ wrong: error instanceof Error ? error.message : String(error) });
    }
  }

  render({ over }: Given, { wrong = over }: Tried): JSX.Element {
    return h(
      'div',
      { class: 'gang' },
      h('h1', { tabIndex: -1 }, 'Sign in'),
      h('p', null, 'You see what your token may see. It is kept until you sign out, 8 hours at most.'),
      wrong === undefined ? null : h('p', { class: 'stale', role: 'alert' }, wrong),
      h(
        'form',
        {
          onSubmit: (event: SubmitEvent) => {
            event.preventDefault();
            void this.#submit(event.currentTarget as HTMLFormElement);
          },
        },
        h('label', { for: 'token' }, 'Token'),
        h('input', { id: 'token', name: 'token', type: 'password', autocomplete: 'off', required: true }),
        h('button', { type: 'submit' }, 'Sign in'),
      ),
    );
  }
}

export async function signOut(): Promise<void> {
  await answerOf(SESSION, { method: 'DELETE' }).catch(() => undefined);
  location.reload();
}
