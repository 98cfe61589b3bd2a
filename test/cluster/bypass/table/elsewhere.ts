import type { WayElsewhere } from '../way.ts';

/** What needs no control plane, or one of another kind: another test tries it, by the name that stands here. */
export const ELSEWHERE: readonly WayElsewhere[] = [
  {
    who: 'author',
    tries: 'lets his module change in a Pod what it did not declare',
    because: 'the patch surface offers it nothing else: the Pod is refused, and nothing of it is changed',
    file: 'test/unit/admission/pod-patch.test.ts',
    test: 'that refuses a Pod is quoted, with the field, as 422; nothing is patched',
  },
  {
    who: 'author',
    tries: 'publishes another module under the name and path that are configured',
    because: '`integrity` of the profile: a module whose bytes differ is not loaded',
    file: 'test/component/cli/backend-modules.test.ts',
    test: 'with its %s',
  },
  {
    who: 'author',
    tries: 'swaps the file, a link on the way or what it imports between the check of its hash and its run',
    because:
      'the bytes that were hashed are those that run, and with `integrity` they may import no other file',
    file: 'test/component/modules/module-file.test.ts',
    test: 'where a link leads elsewhere by then, as those of a ConfigMap do',
  },
  {
    who: 'author',
    tries: 'names a package by a way that leads out of it, a URL, a device or a pipe as the module',
    because: 'what is no file, and no name of a package, is refused before it is opened',
    file: 'test/component/modules/module-file.test.ts',
    test: '%j: it says what is wrong, and runs nothing',
  },
  {
    who: 'author',
    tries: 'lets his module loop, end the process, throw at its start, leak memory or print without end',
    because: 'it runs in a process of its own, which is ended and begun anew while its gangs wait',
    file: 'test/component/modules/misbehaving.test.ts',
    test: 'it does %s: others wait for it no longer than for an answer, and it begins anew',
  },
  {
    who: 'author',
    tries: 'lets his module read the token of Muster’s account, open a connection or start a program',
    because:
      'its process has no environment, and Node’s permission model gives it the files of its package alone',
    file: 'test/component/modules/misbehaving.test.ts',
    test: 'it has no environment, no files but its own, no network, no processes and no threads',
  },
  {
    who: 'author',
    tries:
      'lets his module look at the environment of Pods, where people write what is secret, without having declared it',
    because:
      'it is sent Pods without, and told so where it looks: `readsWholePods` stands in what is declared',
    file: 'test/component/modules/operations.test.ts',
    test: 'a module that %s gets of a Pod’s environment what it declared',
  },
  {
    who: 'author',
    tries: 'lets his module ask for paths and names that lead to other objects',
    because:
      'each message of a module is checked by Muster and held to what the module declares: kinds that it keeps, rights of its factory, never a Secret',
    file: 'test/component/modules/operations.test.ts',
    test: '%s is refused before anybody is asked',
  },
  {
    who: 'tenant',
    tries: 'lets somebody review a manifest of his with a bomb of aliases',
    because: 'the command line unfolds no more than any manifest needs',
    file: 'test/unit/cli/input/documents.test.ts',
    test: 'a bomb of aliases',
  },
  {
    who: 'tenant',
    tries: 'gives his objects names and texts with escapes, for the terminal of whoever looks at them',
    because: 'everything that comes from an object is made printable before it is shown',
    file: 'test/unit/cli/review/review.test.ts',
    test: 'nothing in an object moves a cursor, in any format',
  },
  {
    who: 'tenant',
    tries: 'gives his objects names and texts with escapes and line ends, for Muster’s log',
    because: 'the log has a line for each event, in which control characters are escaped',
    file: 'test/component/server/logs.test.ts',
    test: 'control and bidi characters in the %s are escaped',
  },
  {
    who: 'tenant',
    tries:
      'calls gangs and groups so that the native gangs of two of them have one name (`a` with `b.c`, `a.b` with `c`)',
    because: 'a group’s part of the name has no dot, and is a hash where it would have one',
    file: 'test/unit/backends/native/prepare.test.ts',
    test: 'two gangs of a namespace never come to the same PodGroup',
  },
  {
    who: 'tenant',
    tries:
      'makes gangs and HPCPolicies by the thousand, so that each Pod of the namespace is long to deal with',
    because: 'what a Pod or a gang is judged by is looked up by its name, however many others there are',
    file: 'test/unit/controller/watch/gang-watch.test.ts',
    test: 'a Pod costs as little in a namespace of a thousand gangs as in one of three',
  },
  {
    who: 'tenant',
    tries: 'fills Muster’s memory with HPCPolicies',
    because: 'they count for the bound of his namespace, as Pods, gangs and workloads do',
    file: 'test/unit/controller/watch/policy-watch.test.ts',
    test: 'a namespace has its share of the memory, stands still past it, and others lose nothing',
  },
  {
    who: 'tenant',
    tries: 'keeps the loop busy with a thousand gangs that change all the time',
    because: 'namespaces take turns in the queue, with gates and with Events',
    file: 'test/unit/kube/loop/fair-queue.test.ts',
    test: 'lets namespaces take turns: a thousand gangs of one are one turn for another',
  },
  {
    who: 'tenant',
    tries: 'lets his gangs say so much that Events of others are lost',
    because: 'what is too much is lost of the namespace that says most',
    file: 'test/unit/kube/loop/event-recorder.test.ts',
    test: 'a namespace that says too much loses its own Events, and makes another wait for one turn',
  },
  {
    who: 'tenant',
    tries: 'fills Muster’s caches with his objects',
    because:
      'one namespace has a bound and the others a reserve; past it the namespace stands still and says so',
    file: 'test/unit/kube/loop/cache-memory.test.ts',
    test: 'has a bound for a namespace, one for all, and a reserve for each',
  },
  {
    who: 'tenant',
    tries: 'creates large Pods without end, so that small ones of others wait',
    because: 'large reviews come one a round, each namespace in turn, after the small ones',
    file: 'test/unit/server/fair-queue.test.ts',
    test: 'large ones come one a round, each namespace in turn, after the small ones',
  },
  {
    who: 'tenant',
    tries: 'asks by dry runs what runs in namespaces that are not his',
    because:
      'a forecast names units of his own namespace alone; of others he is told numbers and priorities, which `preemption.preview` tells everybody who may create Pods',
    file: 'test/cluster/preview.test.ts',
    test: 'one file of which nothing is stored: how many would have to make room, and no names where anybody may ask',
  },
  {
    who: 'tenant',
    tries: 'with the right to write bindings of the fleet lets his own past its queue, or gives it another',
    because: 'policy `muster-fleet-queues` (`FleetQueueHeld`, `FleetQueueAnnotation`)',
    file: 'test/cluster/fleet-queues.test.ts',
    test: 'nobody else lets it go, or changes its queue',
  },
  {
    who: 'tenant',
    tries: 'writes queues of the fleet, or what their status says of whose turn it is',
    because: 'RBAC: nothing that ships gives anybody but Muster a right to them',
    file: 'test/cluster/fleet-queues.test.ts',
    test: 'who is given no right to queues changes neither them nor their status',
  },
  {
    who: 'stranger',
    tries: 'announces bodies that never come, up to all places and all bytes',
    because: 'they give way to another address (503 with `Retry-After`)',
    file: 'test/component/server/crowds.test.ts',
    test: 'they announce all the bytes that there are, and give way to another address',
  },
  {
    who: 'stranger',
    tries: 'sends headers and bodies a byte at a time',
    because: 'limits of time for handshake, headers and body; 408',
    file: 'test/component/server/slow-senders.test.ts',
    test: 'V13: a body that trickles in is cut off with 408',
  },
  {
    who: 'stranger',
    tries: 'fills all places with handshakes that go nowhere',
    because: 'the oldest unfinished one gives way to a newcomer',
    file: 'test/component/server/flood.test.ts',
    test: 'new connections get through though every place is taken by a handshake that goes nowhere',
  },
  {
    who: 'stranger',
    tries: 'comes without a client certificate where one is asked for, or with another’s',
    because: '`server.webhooks.clientCertificate`: the handshake fails, or the answer is 403',
    file: 'test/component/tls/client-certificate.test.ts',
    test: 'a client with another name is told why not',
  },
  {
    who: 'stranger',
    tries: 'forges reviews of another namespace, to learn from refusals what is in it',
    because: 'without a client certificate no refusal names a PodGang that the review does not name',
    file: 'test/unit/preparers/flux/pods.test.ts',
    test: 'an HPCPolicy may be edited while no Pod was prepared by it, and its metadata always',
  },
  {
    who: 'stranger',
    tries: 'sends bodies that are nearly reviews, by the ten thousand',
    because: 'nothing that is no review is allowed, nothing crashes, nothing hangs',
    file: 'test/component/fuzz/noticed.test.ts',
    test: '%s: nothing is found',
  },
];
