import { POD_GANG_GROUP, POD_GANG_KIND, POD_GANG_VERSION } from '../../api/names.ts';
import { suggestion } from '../../text/nearest-key.ts';
import { MusterError } from '../../errors.ts';
import { listed } from '../../text/printable.ts';
import { ApiError, isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { POD_GANGS } from '../../kube/client/resources.ts';
import { placeOf, type Question } from './view.ts';

/** There is no such gang, and no Pod that claims it. @param known names of those that there are, sorted */
export function unknownGang(
  question: Question & { readonly gang: string },
  known: readonly string[],
): MusterError {
  const names = [...new Set(known)];
  const elsewhere =
    question.namespace === undefined ? '' : ' Another namespace is named with -n, all with -A.';
  const there =
    names.length === 0 ? `There are no gangs ${placeOf(question)}.` : `There are: ${listed(names, 'gangs')}.`;
  return new MusterError(
    'GANG_UNKNOWN',
    `PodGang ${question.gang} does not exist ${placeOf(question)}${suggestion(question.gang, names)}`,
    `${there}${elsewhere}`,
  );
}

/** What the API server refuses to somebody who only looks, with the way out; any other error as it is. */
export function refused(error: unknown, { namespace }: Question): unknown {
  if (!(error instanceof ApiError)) return error;
  const { message } = error;
  if (isNotFound(error)) {
    return new MusterError(
      'CLUSTER_REFUSED',
      `${message} (it does not know ${POD_GANG_KIND}, ${POD_GANG_GROUP}/${POD_GANG_VERSION})`,
      'Define it with `kubectl apply -k manifests/crds`, or look at another cluster with --kubeconfig.',
      { cause: error },
    );
  }
  if (!isForbidden(error)) return error;
  const where = namespace === undefined ? 'all namespaces' : `namespace ${namespace}`;
  const fix =
    error.status === 401
      ? 'Log in anew, or name another --kubeconfig.'
      : `It takes the rights to list (with -w also to watch) pods and ${POD_GANGS.plural}.${POD_GANG_GROUP} in ${where}: ` +
        `the ClusterRole "view" has them once Muster is installed.${namespace === undefined ? ' One namespace is named with -n.' : ''}`;
  return new MusterError('CLUSTER_REFUSED', message, fix, { cause: error });
}
