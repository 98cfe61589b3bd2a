/**
 * What authors of backends import, held as text: a change that breaks one of theirs is seen here first. After a change
 * that is meant: `UPDATE_DOCS=1 npm run test:unit`, and think of the version of the contract.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../../..');
const FILE = join(import.meta.dirname, 'contract-shape.txt');

function shape(): string {
  const entry = join(ROOT, 'src/index.ts');
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram([entry], { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error('src/index.ts is no module');
  const printer = ts.createPrinter({ removeComments: true });
  const describe = (symbol: ts.Symbol): string => {
    const meant = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const [declaration] = meant.declarations ?? [];
    if (declaration === undefined) throw new Error(`${symbol.name} is declared nowhere`);
    if (ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration)) {
      return printer.printNode(ts.EmitHint.Unspecified, declaration, declaration.getSourceFile());
    }
    const type = checker.getTypeOfSymbolAtLocation(meant, declaration);
    const told = ts.TypeFormatFlags.NoTruncation;
    if (!ts.isClassDeclaration(declaration)) {
      // Of a catalogue the names are the contract; its texts may change.
      const names = type.getProperties().map(({ name }) => name);
      const text = ts.isFunctionDeclaration(declaration) || names.length === 0 || names.includes('toFixed');
      return `${symbol.name}: ${text ? checker.typeToString(type, undefined, told) : names.join(' | ')}`;
    }
    const instance = checker.getDeclaredTypeOfSymbol(meant);
    const members = instance.getProperties().map((member) => {
      const of = checker.getTypeOfSymbolAtLocation(member, declaration);
      return `    ${member.name}: ${checker.typeToString(of, undefined, told)};`;
    });
    const made = type.getConstructSignatures().map((one) => checker.signatureToString(one));
    return `class ${symbol.name} {\n    new${made.join(' | ')}\n${members.join('\n')}\n}`;
  };
  const exported = checker.getExportsOfModule(module).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return `${exported.map(describe).join('\n\n')}\n`;
}

test('what the package exports has the shape that is written down', () => {
  const now = shape();
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, now);
  expect(now).toBe(readFileSync(FILE, 'utf8'));
}, 60_000);
