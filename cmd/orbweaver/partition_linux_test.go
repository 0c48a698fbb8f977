package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// land is some agents, each in a network namespace of its own, and bridges between them. Each has the same simulated web on its loopback,
// whose logs are judged together. What a shell inside makes and cuts is cut for nobody outside.
type land struct {
	t      *testing.T
	dir    string
	agents int
	shell  io.WriteCloser
	said   *buffer
	ended  func() error
}

// landscape makes the ways. A side is a bridge; who is moved to another one cannot be reached from the first.
const landscape = `
set -e
ip link set lo up
for b in one other; do ip link add $b type bridge; ip link set $b up; done
for i in $(seq $AGENTS); do
	unshare -n sleep 600 & at[$i]=$!
done
sleep 0.5
for i in $(seq $AGENTS); do
	ip link add way$i type veth peer name way netns ${at[$i]}
	ip link set way$i master one up
	in="nsenter -t ${at[$i]} -n"
	$in ip link set lo up
	$in ip addr add 10.77.0.$i/24 dev way
	$in ip link set way up
done
echo the land is there
`

func newLand(t *testing.T, agents int) *land {
	t.Helper()
	for _, tool := range []string{"unshare", "nsenter", "ip", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	l := &land{t: t, dir: t.TempDir(), agents: agents, said: new(buffer)}
	cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-s")
	cmd.Env = append(os.Environ(), asProgram+"=1", "PROGRAM="+program(), "DIR="+l.dir, fmt.Sprintf("AGENTS=%d", agents))
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = l.said, l.said, 5*time.Second
	var err error
	if l.shell, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	l.ended = cmd.Wait
	l.tell("%s", landscape)
	for end := time.Now().Add(10 * time.Second); !strings.Contains(l.said.String(), "the land is there"); {
		if time.Now().After(end) || strings.Contains(l.said.String(), "not permitted") {
			_ = l.shell.Close()
			_ = cmd.Wait()
			t.Skip("no network namespaces here: ", l.said.String())
		}
		time.Sleep(50 * time.Millisecond)
	}
	return l
}

// tell has the shell do something.
func (l *land) tell(format string, args ...any) {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.shell, format+"\n", args...); err != nil {
		l.t.Fatal(err, l.said)
	}
}

// settle starts the webs and the agents.
func (l *land) settle(hostDelay time.Duration, more string) {
	l.t.Helper()
	ca := filepath.Join(l.dir, "ca")
	call("ca", "init", "--dir", ca).want(l.t, exitDone)
	for i := range l.agents {
		call("ca", "issue", fmt.Sprintf("a%d", i+1), "--dir", ca).want(l.t, exitDone)
	}
	l.tell(`cd $DIR
for i in $(seq $AGENTS); do
	in="nsenter -t ${at[$i]} -n"
	$in $PROGRAM sim --plain --hosts 60 --ips 60 --pages 60 --most 150 --proxy 127.0.0.1:8080 --seeds-file seeds$i.txt --log log$i.json > sim$i.txt 2>&1 & web[$i]=$!
done
sleep 2
for i in $(seq $AGENTS); do
	in="nsenter -t ${at[$i]} -n"
	$in $PROGRAM crawl --dir a$i --agent a$i --agent-file ca/a$i.agent --gossip 10.77.0.$i:7946 --join 10.77.0.1:7946 --join 10.77.0.2:7946 --agents $AGENTS \
		--proxy http://127.0.0.1:8080 --resolver hashed:60 --seeds seeds$i.txt --host-delay %v --ip-delay 0s --fetchers 16 %s > crawl$i.txt 2>&1 & crawl[$i]=$!
done`, hostDelay, more)
}

// close ends all, and returns what was asked, in order of time.
func (l *land) close() (asked []landed) {
	l.t.Helper()
	l.tell(`kill -INT ${crawl[@]}; wait ${crawl[@]} || true; kill -INT ${web[@]}; wait ${web[@]} || true; kill ${at[@]}`)
	if err := l.shell.Close(); err != nil {
		l.t.Fatal(err)
	}
	_ = l.ended() // by what became of the last command
	for i := range l.agents {
		f, err := os.Open(filepath.Join(l.dir, fmt.Sprintf("log%d.json", i+1)))
		if err != nil {
			l.t.Fatal(err, l.said)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			a := landed{agent: i}
			if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
				l.t.Fatal(err)
			}
			asked = append(asked, a)
		}
		if err := f.Close(); err != nil {
			l.t.Fatal(err)
		}
	}
	slices.SortStableFunc(asked, func(a, b landed) int { return int(a.Begin - b.Begin) })
	return asked
}

// landed is one request.
type landed struct {
	Begin int64  `json:"time_ns"`
	End   int64  `json:"end_ns"`
	URL   string `json:"url"`
	agent int
}

// closest is the shortest time between two requests to a host of the same group of agents.
func closest(t *testing.T, asked []landed, group func(agent int) int) (shortest time.Duration, where string) {
	t.Helper()
	type guest struct {
		group int
		host  string
	}
	last := map[guest]landed{}
	shortest = math.MaxInt64
	for _, a := range asked {
		u, err := url.Parse(a.URL)
		if err != nil {
			t.Fatal(err)
		}
		g := guest{group(a.agent), u.Host}
		if was, some := last[g]; some && time.Duration(a.Begin-was.End) < shortest {
			shortest, where = time.Duration(a.Begin-was.End), fmt.Sprintf("%s by %d, %s by %d", was.URL, was.agent, a.URL, a.agent)
		}
		if a.End > last[g].End {
			last[g] = a
		}
	}
	return shortest, where
}

// Real processes, on real networks that are cut and mended. With a quorum no host is ever asked too soon, and the agent that is cut off stops; without
// one each side is polite by itself.
func TestG01_realProcessesAreCutApart(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const hostDelay = time.Second
	whole := []string{"ip link set way3 master other", "ip link set way3 master one"}
	mute := []string{"for to in 1 2; do nsenter -t ${at[3]} -n ip route add blackhole 10.77.0.$to/32; done",
		"for to in 1 2; do nsenter -t ${at[3]} -n ip route del blackhole 10.77.0.$to/32; done"}
	for _, c := range []struct {
		name   string
		quorum bool
		ways   []string // how they are cut, and mended
	}{
		{"with a quorum", true, whole},
		{"with a quorum, one way", true, mute},
		{"without", false, whole},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			quorum := c.quorum
			l := newLand(t, 3)
			l.settle(hostDelay, fmt.Sprintf("--quorum=%t", quorum))
			status := func(agent int, word string) {
				t.Helper()
				dir := filepath.Join(l.dir, fmt.Sprintf("a%d", agent))
				soon(t, fmt.Sprintf("agent %d: %s", agent, word), func() bool {
					r, p := call("ctl", "status", "--dir", dir), call("ctl", "peers", "--dir", dir)
					return strings.Contains(r.out+p.out, word)
				})
			}
			status(3, "running")
			time.Sleep(6 * time.Second)
			l.tell("%s", c.ways[0])
			cut := time.Now()
			if quorum {
				status(3, "fewer than a majority of the agents of this crawl answer: not a1, a2")
				status(1, "majority yes")
			}
			time.Sleep(time.Until(cut.Add(32 * time.Second)))
			l.tell("%s", c.ways[1])
			healed := time.Now()
			if quorum {
				status(3, "majority yes: agreed on are a1, a2, a3")
			}
			time.Sleep(time.Until(healed.Add(20 * time.Second)))
			asked := l.close()
			count := func(agents []int, from, to time.Time) (n int) {
				for _, a := range asked {
					if at := time.Unix(0, a.Begin); slices.Contains(agents, a.agent) && at.After(from) && at.Before(to) {
						n++
					}
				}
				return n
			}
			large, small := count([]int{0, 1}, cut.Add(28*time.Second), healed), count([]int{2}, cut.Add(10500*time.Millisecond), healed)
			after := count([]int{2}, healed, time.Now())
			together, where := closest(t, asked, func(int) int { return 0 })
			apart, there := closest(t, asked, func(agent int) int { return agent / 2 })
			t.Logf("%d requests; the shortest time at a host %v over all, %v within a side; while they were apart the larger side asked %d times in the end, the smaller %d, and %d after that",
				len(asked), together, apart, large, small, after)
			if quorum && (together < hostDelay-50*time.Millisecond || small > 0) {
				t.Errorf("%v at a host (%s); the smaller side asked %d times", together, where, small)
			}
			if apart < hostDelay-50*time.Millisecond || large == 0 || after == 0 || !quorum && small == 0 {
				t.Errorf("%v at a host (%s); the sides asked %d and %d times, and the smaller %d times after that\n%s", apart, there, large, small, after, l.said)
			}
		})
	}
}
