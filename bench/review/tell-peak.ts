// Imported into a program that is measured: at its end it tells the most memory (RSS, KiB) that it held, on descriptor 3.
import { writeSync } from 'node:fs';

process.on('exit', () => void writeSync(3, String(process.resourceUsage().maxRSS)));
