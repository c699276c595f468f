// Members of a shard over a file log, each its own sentinel.
import { execFileSync } from 'node:child_process';

import { freePort, kProgram, waitUntil, WeirServer } from './weirs.js';

export const kShard = 'main';

/** Who serves, or null. */
export async function primaryOf(members) {
  for (const member of members) {
    const role = member.lives && await member.call('ROLE').catch(() => null);
    if (role?.[0] === 'master') return member;
  }
  return null;
}

/** So many members, of which one serves; they end with the test `t`. */
export async function shardOf(t, count) {
  const members = [];
  while (members.length < count) members.push(new WeirServer(await freePort(), []));
  const log = `file:${members[0].folder}/shared-log`;
  execFileSync(kProgram, ['--new-shard', log, kShard, '--dir', `${members[0].folder}/data`], { stdio: 'ignore' });
  for (const member of members) member.options = ['--log', log, '--shard', kShard];
  t.after(async () => {
    for (const member of members) await member.kill(); // all write to the log, which is in the folder of the first
    for (const member of members) await member.end();
  });
  await Promise.all(members.map((member) => member.start()));
  await waitUntil(() => primaryOf(members), 'one serves');
  return members;
}
