//go:build scenario

package cluster

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// attacked is a crawl of two honest agents with a third member that does no work and sends statements for which it has
// no authority. All hosts disallow /secret.
type attacked struct {
	*testCluster
	web  *testbed.ScriptedHosts
	evil *flooder
	dir  string // of each agent's crawl, on its own disk
}

const attackedHosts = 12

// attackFunc attacks one agent: by messages of the attacker, or by direct calls.
type attackFunc func(a *attacked, second int, to cluster.Handler, send func(message []byte) error)

// attack runs such a crawl. attacks is called each second for a minute, for each honest agent. Then the attacker stops.
func attack(t *testing.T, attacks attackFunc) *attacked {
	t.Helper()
	a := &attacked{web: &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, Counts: map[string]int{}}}
	rules := testbed.AlwaysRespond(200, "", "User-agent: *\nDisallow: /secret\n")
	for i := range attackedHosts {
		a.web.Hosts[fmt.Sprintf("h%d.test", i)] = func(path string, n int, c net.Conn) {
			switch path {
			case "/robots.txt":
				rules(n, c)
			case "/":
				testbed.Respond(c, 200, "", "<a href=/1>1</a> <a href=/secret>s</a> <a href=/2>2</a>")
			default:
				testbed.Respond(c, 200, "", "<p>"+path)
			}
		}
	}
	a.testCluster = newScriptedCluster(t, a.web, 2)
	a.least = 3
	change := a.change
	a.change = func(name string, c *engine.Config, s *engine.Seams) {
		change(name, c, s)
		c.Cluster.AgentAway, a.dir = time.Second, c.Dir
	}
	a.evil = &flooder{endpoint: a.hub.newEndpoint("evil", 1), rng: rand.New(rand.NewPCG(1, 1))}
	if err := a.evil.endpoint.Join(t.Context(), 99, a.evil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Hour)
	defer cancel()
	for _, name := range a.names {
		a.start(ctx, name)
	}
	for second := range 60 {
		time.Sleep(time.Second)
		for _, name := range a.names {
			a.hub.mu.Lock()
			to := a.hub.endpoints[name].server
			a.hub.mu.Unlock()
			attacks(a, second, to, func(message []byte) error { return a.evil.endpoint.Send(ctx, name, 0, message) })
		}
	}
	if err := a.evil.endpoint.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	a.wait()
	a.web.Done.Wait()
	return a
}

// check reports what the honest agents did that they would not have done by themselves.
func (a *attacked) check() {
	began := a.web.Requests[0].At
	for host := range a.web.Hosts {
		var paths []string
		for _, p := range a.web.Pages(host) {
			if paths = append(paths, p.Path); p.Path == "/secret" {
				a.t.Errorf("%s: the disallowed page was requested", host)
			}
			if delay := p.At.Sub(began); delay > time.Hour {
				a.t.Errorf("%s%s was requested after %v", host, p.Path, delay)
			}
		}
		if len(paths) < 3 {
			a.t.Errorf("%s: only %q were requested", host, paths)
		}
	}
}

// manifest is the length of the longest manifest of the honest agents.
func (a *attacked) manifest() (size int) {
	for _, name := range a.names {
		b, err := vfs.ReadFile(a.disks[name], a.dir+"/"+layout.ManifestFile)
		if err != nil {
			a.t.Fatal(err)
		}
		size = max(size, len(b))
	}
	return size
}

func framed(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

// robotsResult is a message with the result of a robots.txt; without rules it could not be fetched.
func robotsResult(host string, rules *robots.Rules) []byte {
	item := append([]byte{'V', 1}, make([]byte, 8)...)
	item = append(item, framed("http://"+host)...)
	encoded := []byte(nil)
	if rules != nil {
		encoded = rules.Append(nil)
	}
	return outbox.AppendItem(nil, append(item, framed(string(encoded))...))
}

// longDelay is a message that says that a site must not be contacted for two days.
func longDelay(host string) []byte {
	item := append([]byte{'S', 1}, make([]byte, 8)...)
	item = append(item, framed("http://"+host)...)
	item = binary.AppendUvarint(item, uint64(47*time.Hour))
	return outbox.AppendItem(nil, append(item, 0))
}

// A member, or an agent that is no member, sends rules and delays of hosts that it does not own. The others do not
// believe it: no disallowed page is requested (at 10 of 12 hosts without the check), and no host is delayed (for two
// days).
func TestHostilePeer_P2_onlyOwnersSpeakForASite(t *testing.T) {
	for name, forge := range map[string]func(host string) []byte{
		"allowed":     func(host string) []byte { return robotsResult(host, robots.AllowAll()) },
		"denied":      func(host string) []byte { return robotsResult(host, robots.DenyAll()) },
		"unreachable": func(host string) []byte { return robotsResult(host, nil) },
		"delayed":     longDelay,
	} {
		for _, member := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/member=%v", name, member), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					refused := 0
					a := attack(t, func(a *attacked, _ int, to cluster.Handler, send func([]byte) error) {
						for host := range a.web.Hosts {
							if member {
								_ = send(forge(host)) // an agent that starts takes no messages
							} else if err := to.HandleMessage(t.Context(), "unknown", forge(host)); err != nil {
								refused++
							}
						}
					})
					a.check()
					if want := 60 * 2 * attackedHosts; !member && refused != want {
						t.Errorf("%d messages of an unknown sender are refused, of %d", refused, want)
					}
					for _, agent := range a.names {
						if r := a.final(agent).Cluster; member && r.StatementsRefused == 0 || !member && r.UnknownSendersRefused == 0 {
							t.Errorf("%s does not report what it refused: %+v", agent, r)
						}
					}
				})
			})
		}
	}
}

// A member announces 300 times under invented names of a megabyte each that it leaves. Memory and manifest do not grow:
// they grew by 200 MB and 210 MB.
func TestHostilePeer_P1_inventedNamesLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, after uint64
		a := attack(t, func(_ *attacked, second int, to cluster.Handler, _ func([]byte) error) {
			if second != 20 || after > 0 {
				return
			}
			before = liveHeap()
			for i := range 300 {
				line := fmt.Sprintf("evil/%016x", i)
				if i%3 > 0 { // two of three names have a megabyte
					line = fmt.Sprintf("evil/%d%s", i, strings.Repeat("x", 1<<20-32))
				}
				if _, err := to.HandleQuestion(t.Context(), "evil", append([]byte{'G', 1}, line...)); err == nil {
					t.Errorf("%.30s leaves", line)
				}
			}
			after = liveHeap()
		})
		t.Logf("heap %d KiB and %d KiB, manifest %d bytes", before>>10, after>>10, a.manifest())
		if after > before+8<<20 || a.manifest() > 64<<10 {
			t.Errorf("300 questions: heap %d MiB and %d MiB, manifest %d bytes", before>>20, after>>20, a.manifest())
		}
		a.check()
	})
}

// A member sends a message of 0.9 MB with fetched sets of 69,231 agents that fetched nothing. One is kept. All were
// kept before, in the manifest, and each later question hashed its URLs once for each.
func TestHostilePeer_P3_listsOfInventedAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := attack(t, func(_ *attacked, second int, to cluster.Handler, _ func([]byte) error) {
			if second != 20 {
				return
			}
			var message []byte
			for i := range 69_231 {
				item := binary.LittleEndian.AppendUint64([]byte{'F', 1}, uint64(i))
				line := "e/1"
				if i < 100 {
					line = fmt.Sprintf("evil%d/%016x", i, i)
				} else if i < 200 {
					line = fmt.Sprintf("evil/%016x", 99)
				}
				message = outbox.AppendItem(message, append(item, framed(line)...))
			}
			if err := to.HandleMessage(t.Context(), "evil", message); err != nil {
				t.Errorf("a message with unauthorised lists: %v", err)
			}
		})
		lists := 0
		for _, name := range a.names {
			b, err := vfs.ReadFile(a.disks[name], a.dir+"/"+layout.ManifestFile)
			if err != nil {
				t.Fatal(err)
			}
			lists = max(lists, strings.Count(string(b), `"seed"`))
		}
		t.Logf("%d lists, manifest %d bytes", lists, a.manifest())
		if lists > 9 || a.manifest() > 64<<10 {
			t.Errorf("%d lists are kept, in a manifest of %d bytes", lists, a.manifest())
		}
		a.check()
	})
}
