/**
 * The shell texts that stand between the host and what it starts. POSIX sh and the tools of every system; each is run as
 * `/bin/sh -c TEXT NAME ARGUMENTS...`.
 */

/**
 * The init of a pid namespace. Reports once that it is up, then waits for the end of the lifeline (its stdin). When it ends,
 * for whatever reason, the kernel ends everything in the namespace; nothing inside can end it, because an init without
 * handlers cannot be killed from within.
 *
 * A child watches the lifeline, because a shell takes away the zombies it inherits only while it waits for a child, and a
 * zombie looks alive to those who ask with `kill -0`. A watcher that somebody inside kills is replaced.
 */
export const anchorScript = `
trap '' HUP INT TERM
exec 3<&0 </dev/null
echo up
exec >/dev/null 2>&1
while :; do
  ( read -r _ <&3 ) &
  wait "$!"
  [ "$?" -gt 128 ] || exit 0
done
`

/**
 * The parent of an agent in a pid namespace, itself outside of it. `$1` is the working directory, `$2` the variables that
 * only this shell has set, the rest the command, which puts the agent into a session of its own: one whose leader is outside
 * would look like session 0 to it. Lets go of the agent's pipes at once, or else the agent could not close them, and passes
 * on its exit status. A background command's stdin is /dev/null unless it is redirected. It must outlive the agent and take
 * away its zombie, for a namespace ends only after that, so nobody signals it and it does not end with its host.
 */
export const parentScript = `
cd -- "$1" || exit 126
strays=$2
shift 2
exec 5<&0
trap : HUP INT TERM
{ unset $strays; exec "$@" <&5 5<&-; } &
agent=$!
exec </dev/null >/dev/null 2>&1 5<&-
while :; do
  wait "$agent"
  status=$?
  [ "$status" -gt 128 ] && kill -0 "$agent" 2>/dev/null || exit "$status"
done
`

/**
 * The guardian of a host: reads `+ MARKER` and `- MARKER` from its stdin. Its end means that the host is gone, and then
 * every process that carries one of the markers left is killed until two looks in a row find none. `list` prints a line
 * `PID` for each of them, `holds PID` looks again directly before the signal.
 */
export const guardianScript = (platform: NodeJS.Platform): string => `
trap '' HUP INT TERM PIPE
exec >/dev/null 2>&1
markers=
while read -r change marker; do
  kept=
  for known in $markers; do
    [ "$known" = "$marker" ] || kept="$kept $known"
  done
  markers=$kept
  [ "$change" = - ] || markers="$markers $marker"
done
exec </dev/null
[ -n "$markers" ] || exit 0
for marker in $markers; do
  set -- "$@" -e "$marker"
done
${platform === "linux" ? linuxLook : otherLook}
empty=0
rounds=0
while [ "$empty" -lt 2 ]; do
  empty=$((empty + 1))
  for pid in $(list "$@"); do
    holds "$pid" "$@" && kill -KILL "$pid" && empty=0
  done
  rounds=$((rounds + 1))
  if [ "$rounds" -lt 100 ]; then sleep 0.02 || sleep 1; else sleep 1; fi
done
`

/** Arguments go through a pipe because there may be more processes than a command line can hold. */
const linuxLook = `
list() { printf '%s\\n' /proc/[0-9]*/environ | xargs grep -lsF "$@" | sed 's|[^0-9]||g'; }
holds() { held=$1; shift; grep -qsF "$@" "/proc/$held/environ"; }
`

/** Without /proc: `ps` shows the environment of processes that allow it. No filter's own line has both words. */
const otherLook = `
list() { ps -axEww -o pid=,command= | grep -F GREENROOM_LAUNCH= | grep -F "$@" | sed 's/^ *\\([0-9]*\\).*/\\1/'; }
holds() { held=$1; shift; ps -Eww -o command= -p "$held" | grep -F GREENROOM_LAUNCH= | grep -qF "$@"; }
`
