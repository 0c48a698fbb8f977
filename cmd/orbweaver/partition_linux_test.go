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

// severance is a way of cutting off the last of three agents.
type severance struct {
	cut, mend string
	lasts     time.Duration
}

// severances are a cut of both ways, and one after which that agent hears the others and they do not hear it.
func severances() []severance {
	return []severance{
		{"ip link set way3 master other", "ip link set way3 master one", 32 * time.Second},
		{"for to in 1 2; do nsenter -t ${at[3]} -n ip route add blackhole 10.77.0.$to/32; done",
			"for to in 1 2; do nsenter -t ${at[3]} -n ip route del blackhole 10.77.0.$to/32; done", 15 * time.Second},
	}
}

// status waits until an agent says something of itself. Sides of a partition have 60 s to find each other.
func (l *land) status(agent int, word string) {
	l.t.Helper()
	dir := filepath.Join(l.dir, fmt.Sprintf("a%d", agent))
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		said := call("ctl", "status", "--dir", dir).out + call("ctl", "peers", "--dir", dir).out
		if strings.Contains(said, word) {
			return
		}
		if time.Now().After(end) {
			l.t.Fatalf("agent %d: %q not within a minute\n%s\n%s", agent, word, said, l.said)
		}
	}
}

// Real processes, on real networks that are cut and mended. With a quorum no host is ever asked too soon, and the agent that is cut off stops; without
// one each side is polite by itself.
func TestG01_realProcessesAreCutApart(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes a minute")
	}
	for _, quorum := range []bool{true, false} {
		t.Run(fmt.Sprintf("quorum %t", quorum), func(t *testing.T) {
			t.Parallel()
			const hostDelay = time.Second
			l := newLand(t, 3)
			l.settle(hostDelay, fmt.Sprintf("--quorum=%t", quorum))
			l.status(3, "running")
			time.Sleep(4 * time.Second)
			faults := severances()
			if !quorum {
				faults = faults[:1]
			}
			var cut, mended, looked []time.Time
			for _, f := range faults {
				l.tell("%s", f.cut)
				cut = append(cut, time.Now())
				if quorum {
					l.status(3, "fewer than a majority of the agents of this crawl answer: not a1, a2")
					l.status(1, "majority yes")
				}
				time.Sleep(time.Until(cut[len(cut)-1].Add(f.lasts)))
				l.tell("%s", f.mend)
				mended = append(mended, time.Now())
				if quorum {
					l.status(3, "majority yes")
				}
				time.Sleep(14 * time.Second) // it leaves all hosts alone for 10 s
				looked = append(looked, time.Now())
			}
			asked := l.close()
			together, where := closest(t, asked, func(int) int { return 0 })
			apart, there := closest(t, asked, func(agent int) int { return agent / 2 })
			t.Logf("%d requests; the shortest time at a host is %v over all, %v within a side", len(asked), together, apart)
			if apart < hostDelay-50*time.Millisecond || quorum && together < hostDelay-50*time.Millisecond {
				t.Errorf("%v at a host (%s), %v within a side (%s)", together, where, apart, there)
			}
			for i := range faults {
				large, small := during(asked, []int{0, 1}, mended[i].Add(-4*time.Second), mended[i]), during(asked, []int{2}, cut[i].Add(10500*time.Millisecond), mended[i])
				after := during(asked, []int{2}, mended[i], looked[i])
				t.Logf("cut %d: the larger side asked %d times in the end, the smaller %d, and %d times after that", i+1, large, small, after)
				if quorum != (small == 0) || large == 0 || after == 0 {
					t.Errorf("cut %d: the larger side asked %d times in the end, the smaller %d, and %d times after that\n%s", i+1, large, small, after, l.said)
				}
			}
		})
	}
}

// during counts the requests of some agents between two moments.
func during(asked []landed, agents []int, from, to time.Time) (n int) {
	for _, a := range asked {
		if at := time.Unix(0, a.Begin); slices.Contains(agents, a.agent) && at.After(from) && at.Before(to) {
			n++
		}
	}
	return n
}
