import { printable } from './printable.ts';

/** Why a text could not be read as YAML, by what the parser says: it quotes as much of the text as it likes. */
export function yamlTrouble({ message }: { readonly message: string }): string {
  // By their text: the parser also reports the first of these as if it were a fault of syntax.
  if (message.includes('Maximum call stack size exceeded')) return 'it is nested too deeply';
  if (message.startsWith('Excessive alias count'))
    return 'its aliases unfold to more than any manifest needs';
  if (message.startsWith('Converting circular structure')) return 'one of its aliases contains itself';
  if (message.startsWith('Source contains multiple documents')) return 'it has more than one document';
  return printable(message);
}
