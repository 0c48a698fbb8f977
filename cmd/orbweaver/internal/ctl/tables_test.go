package ctl

import (
	"io"
	"strings"
	"testing"

	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/operator"
)

// Each answer has its table. Text of other servers is printed without control characters.
func TestTables(t *testing.T) {
	waits := hosts.Host{
		Site: "http://a.test\x1b[2J", State: "waiting", Queued: 2, Pages: 1, Bytes: 2048, DelaySeconds: 4, DueSeconds: 0.25,
		Waits: []hosts.Wait{
			{Reason: hosts.HostDelay, Seconds: 75, Text: "4s between two requests"}, {Reason: hosts.InGroup, Text: "g"},
		},
	}
	due := hosts.Host{Site: "http://b.test", State: "waiting"}
	for name, c := range map[string]struct {
		write func(out io.Writer) error
		want  []string // lines, with one blank between cells
	}{
		"hosts": {func(out io.Writer) error {
			return writeHosts(out, &hosts.List{
				Hosts: []hosts.Host{waits, due}, Matching: 3, Queued: 2, States: map[string]int{"on-disk": 7}, Paused: "disk full",
			})
		}, []string{
			"HOST QUEUED PAGES ERRORS BYTES DELAY DUE IN WAITS FOR",
			"http://a.test\\x1b[2J 2 1 0 2 KiB 4s 250ms 4s between two requests",
			"http://b.test 0 0 0 0 B 0s 0s nothing: it is due",
			"2 of 3 hosts, which have 2 URLs queued; 7 more hosts are idle and on disk",
			"no exchange begins: disk full",
		}},
		"queue": {func(out io.Writer) error {
			return writeQueue(out, &hosts.Queue{Host: waits, URLs: []hosts.QueuedURL{
				{URL: "http://a.test/", Place: hosts.InVisit},
				{Position: 1, URL: "http://a.test/1", Place: hosts.OnDisk, DueSeconds: 90, Tries: 2},
			}})
		}, []string{
			"http://a.test\\x1b[2J waiting, 2 URLs queued (0 on disk), 1 page, 0 errors, 4s between two requests",
			"waits for 1m15s: 4s between two requests",
			"waits: g",
			"now in 0s visit http://a.test/",
			"1 in 1m30s disk http://a.test/1 (tried 2 times)",
		}},
		"due": {func(out io.Writer) error { return writeQueue(out, &hosts.Queue{Host: due}) }, []string{
			"http://b.test waiting, 0 URLs queued (0 on disk), 0 pages, 0 errors, 0s between two requests",
			"waits for nothing: it is due",
		}},
		"seeds": {func(out io.Writer) error {
			return writeSeeds(out, &logreport.SeedList{
				Seeds: []logreport.Seed{
					{URL: "http://a.test/", State: logreport.SeedQueued, Outcome: "queued", WaitsFor: "its turn\n"},
					{URL: "http://b.test/", State: logreport.SeedQueued, Outcome: "queued", Owner: "a2"},
				},
				Matching: 2, States: map[logreport.SeedState]int{logreport.SeedQueued: 2},
			})
		}, []string{
			"STATE OUTCOME STATUS TIME SEED",
			"queued queued 0 - http://a.test/ waits for: its turn\\n",
			"queued queued 0 - http://b.test/ owned by agent a2",
			"2 of 2 seeds that match; all: queued 2",
		}},
		"active": {func(out io.Writer) error {
			return writeActive(out, &operator.Active{Busy: 1, Fetchers: 4, Exchanges: []operator.Exchange{{
				URL: "http://a.test/", Truncated: true, Kind: "page", Address: "192.0.2.1", Age: 2, Tries: 1, Received: 1024,
				Length: 4096,
			}}})
		}, []string{
			"AGE RECEIVED RATE ADDRESS KIND URL",
			"2s 1 KiB of 4 KiB 512 B/s 192.0.2.1 page http://a.test/... (tried 1 time)",
			"1 exchange under way; 4 fetch workers",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := c.write(&out); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			for i, line := range lines {
				lines[i] = strings.Join(strings.Fields(line), " ")
			}
			if got, want := strings.Join(lines, "\n"), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
