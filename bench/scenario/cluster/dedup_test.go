//go:build scenario

package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/cluster/payloads"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// peersDisk is the disk of an agent that also sees those of the others, each in a directory below peers.
type peersDisk struct {
	vfs.FS

	others map[string]*vfs.Mem
}

const peersDir = "peers/"

// find returns the disk with a name, and the name there.
func (d peersDisk) find(name string) (vfs.FS, string) {
	rest, isOther := strings.CutPrefix(name, peersDir)
	agent, rest, _ := strings.Cut(rest, "/")
	if other := d.others[agent]; isOther && other != nil {
		return other, rest
	}
	return d.FS, name
}

func (d peersDisk) Open(name string) (vfs.File, error) {
	disk, name := d.find(name)
	return disk.Open(name)
}

func (d peersDisk) List(name string) ([]string, error) {
	disk, name := d.find(name)
	return disk.List(name)
}

func (d peersDisk) Size(name string) (int64, error) {
	disk, name := d.find(name)
	return disk.Size(name)
}

// storedPayloads are what the archives of all agents say about payloads.
type storedPayloads struct {
	stored    map[[20]byte][]storedPayload
	elsewhere map[string]int // revisits of records of other agents, by agent
	bytes     int64          // of stored payloads that are not the first
}

// storedPayload is a response record.
type storedPayload struct {
	agent  string
	date   time.Time
	closed time.Time // when its file was; zero for one that was open to the end
	size   int64
}

// readPayloads reads the archives of all agents.
func (b *testCluster) readPayloads() *storedPayloads {
	b.t.Helper()
	p := &storedPayloads{stored: map[[20]byte][]storedPayload{}, elsewhere: map[string]int{}}
	for _, name := range b.names {
		files, err := warc.Files(b.disks[name], "crawl/warc")
		if err != nil {
			b.t.Fatal(err)
		}
		err = captures.RecordsAt(b.disks[name], "crawl/warc", func(at warc.Checkpoint, rec *warc.RecordRead) error {
			if err := rec.ReadStart(warc.StartMost); err != nil {
				return err
			}
			switch {
			case otherarchives.IsElsewhere(rec):
				p.elsewhere[name]++
			case rec.Type == warc.Response && rec.PayloadDigest != nil && captures.Status(rec.Block) == 200 &&
				!strings.HasSuffix(string(rec.TargetURI), "/robots.txt"):
				one := storedPayload{agent: name, date: rec.Date, size: rec.ContentLength}
				if n := int(at.Serial) + 1; n < len(files) {
					one.closed = files[n].Created()
				}
				p.stored[*rec.PayloadDigest] = append(p.stored[*rec.PayloadDigest], one)
			}
			return nil
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
	for _, all := range p.stored {
		for _, one := range all[1:] {
			p.bytes += one.size
		}
	}
	return p
}

// eachTwoAgents calls check for each two records of a payload that are of different agents, the earlier one first.
func eachTwoAgents(all []storedPayload, check func(first, second storedPayload)) {
	for i, second := range all {
		for _, first := range all[:i] {
			switch {
			case first.agent == second.agent:
			case second.date.Before(first.date):
				check(second, first)
			default:
				check(first, second)
			}
		}
	}
}

// wantOriginals wants each revisit of each agent to lead to its payload in the archives of all.
func (b *testCluster) wantOriginals() {
	b.t.Helper()
	for _, name := range b.names {
		all := peersDisk{b.disks[name], maps.Clone(b.disks)}
		with := make([]string, 0, len(b.names))
		for _, other := range b.names {
			if other != name {
				with = append(with, peersDir+other+"/crawl/warc")
			}
		}
		found, err := fsck.Check(b.t.Context(), all, "crawl", fsck.Options{With: with})
		if err != nil {
			b.t.Fatal(err)
		}
		testbed.WantSound(b.t, &found)
	}
}

// Agents of one crawl name each other's directories. A payload that another agent has in a closed file is not stored
// again: it is stored twice only if that file was open, or was closed less than a minute before. Every revisit leads to
// its payload in one of the archives, and the whole web is crawled.
func TestDedupFrom_agentsStoreEqualPayloadsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.CopiesWorld(*testbed.FirstSeed+960), 3)
		isNamed := false // the directories of the others
		b.change = func(name string, c *engine.Config, s *engine.Seams) {
			c.Archive.Prefix, c.Archive.SizeMax = name, 1<<16
			if !isNamed {
				return
			}
			s.FS = peersDisk{s.FS, maps.Clone(b.disks)}
			for _, other := range b.names {
				if other != name {
					c.Seen.Others.From = append(c.Seen.Others.From, peersDir+other+"/crawl")
				}
			}
		}
		running := b.startAll(b.names)
		time.Sleep(5 * time.Second)
		for _, name := range b.names { // the directories are there
			running[name].stop()
			<-running[name].done
		}
		isNamed = true
		named := time.Now()
		b.startAll(b.names)
		b.wait()
		wantWhole(t, b.judge(), 0)
		p := b.readPayloads()
		twice := 0
		for digest, all := range p.stored {
			eachTwoAgents(all, func(first, second storedPayload) {
				twice++
				known := max(first.closed.Sub(named), 0) + 61*time.Second
				if !first.closed.IsZero() && second.date.Sub(named) > known {
					t.Errorf("%x is stored by %s at %v and by %s at %v, though its file was closed at %v",
						digest, first.agent, first.date, second.agent, second.date, first.closed)
				}
			})
		}
		t.Logf("%d payloads, %d times one twice (%d bytes); revisits of other agents: %v",
			len(p.stored), twice, p.bytes, fmt.Sprint(p.elsewhere))
		if len(p.elsewhere) < len(b.names) {
			t.Errorf("not all agents have revisits of the others: %v", p.elsewhere)
		}
		b.wantOriginals()
	})
}

// Agents without a common disk ask each other. A payload is stored twice only if the first record was younger than the
// last checkpoint and the next question; all revisits lead to their payloads, also those of open files.
func TestDedupAgents_equalPayloadsAreStoredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.CopiesWorld(*testbed.FirstSeed+961), 3)
		b.change = func(name string, c *engine.Config, _ *engine.Seams) { c.Archive.Prefix, c.Cluster.Payloads = name, 256 }
		b.startAll(b.names)
		b.wait()
		wantWhole(t, b.judge(), 0)
		p := b.readPayloads()
		twice := 0
		for digest, all := range p.stored {
			eachTwoAgents(all, func(first, second storedPayload) {
				if second.size <= 1024 {
					return
				}
				twice++
				if gap := second.date.Sub(first.date); gap > b.config("").Intervals.Checkpoint+payloads.Period+time.Minute {
					t.Errorf("%x is stored by %s and by %s, %v later", digest, first.agent, second.agent, gap)
				}
			})
		}
		found := int64(0)
		for _, name := range b.names {
			r := b.final(name).Cluster
			found += r.PayloadsElsewhere
			t.Logf("%s: %d known, %d questions, %d unanswered, %d found, %d bytes; %d revisits", name, r.PayloadsKnown,
				r.PayloadRequests, r.PayloadRequestsUnanswered, r.PayloadsElsewhere, r.PayloadBytesElsewhere, p.elsewhere[name])
			if r.PayloadsElsewhere != int64(p.elsewhere[name]) {
				t.Errorf("%s: %d payloads were found, and %d revisits say so", name, r.PayloadsElsewhere, p.elsewhere[name])
			}
		}
		t.Logf("%d payloads, %d stored twice, %d bytes", len(p.stored), twice, p.bytes)
		if found < 20 {
			t.Errorf("%d payloads were found at other agents", found)
		}
		b.wantOriginals()
	})
}

// Agents lose power and all that is not synced, and start again. No revisit names a record that its agent has not any
// more: PS1.
func TestPS1_noRevisitNamesARecordThatAKillRemoves(t *testing.T) {
	eachSeed(t, 962, func(t *testing.T, _ int, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		world := testbed.CopiesWorld(seed)
		world.Copies = 200
		b := newTestCluster(t, world, 3)
		b.slowSync = 30 * time.Second // much is lost at a power cut
		b.change = func(name string, c *engine.Config, _ *engine.Seams) {
			c.Archive.Prefix, c.Cluster.Payloads = name, 1
			c.Intervals.Checkpoint = 40 * time.Second
		}
		running := b.startAll(b.names)
		for range 16 {
			time.Sleep(15*time.Second + time.Duration(rng.Int64N(int64(20*time.Second))))
			name := b.names[rng.IntN(len(b.names))]
			select {
			case <-running[name].done:
				continue // it has ended
			default:
			}
			running[name].kill(func(disk *vfs.Mem) *vfs.Mem { return disk.LostClone(0) })
			time.Sleep(time.Duration(rng.Int64N(int64(5 * time.Second))))
			running[name] = b.start(t.Context(), name)
		}
		b.wait()
		p := b.readPayloads()
		t.Logf("%d payloads; revisits of other agents: %v", len(p.stored), p.elsewhere)
		if len(p.elsewhere) == 0 {
			t.Error("no agent has a revisit of another one")
		}
		b.wantOriginals()
	})
}
