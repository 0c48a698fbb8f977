//go:build scenario

package cluster

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/simweb"
)

// areas are the results of fsck by area.
func areas(r *fsck.Report) map[string]fsck.Area {
	all := map[string]fsck.Area{}
	for _, a := range r.Areas {
		all[a.Name] = a
	}
	return all
}

// At any moment at which an agent is killed its directory is sound, and fsck checks its outbox and its fetched set.
func TestFsck_agentsAreSoundAtEveryMoment(t *testing.T) {
	eachSeed(t, 850, func(t *testing.T, _ int, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := newTestCluster(t, testbed.SmallWorld(seed, simweb.Faulty()), 3)
		running := b.startAll(b.names)
		outbox, fetched := int64(0), int64(0)
		for k := range 5 {
			time.Sleep(time.Duration(5+rng.IntN(20)) * time.Second)
			name := b.names[rng.IntN(len(b.names))]
			select {
			case <-running[name].done:
				continue
			default:
			}
			switch k % 3 {
			case 0:
				running[name].kill(testbed.Sigkill)
			case 1:
				b.loseAgent(running[name])
			default:
				running[name].stop()
				<-running[name].done
			}
			r := testbed.Fsck(t, b.disks[name])
			testbed.WantSound(t, &r)
			outbox, fetched = outbox+areas(&r)["outbox"].Checked, fetched+areas(&r)["fetched"].Checked
			running[name] = b.start(t.Context(), name)
		}
		b.wait()
		for _, name := range b.names {
			r := testbed.Fsck(t, b.disks[name])
			testbed.WantSound(t, &r)
			if a := areas(&r); a["outbox"].Checked == 0 || a["fetched"].Checked == 0 {
				t.Errorf("%s: not checked: %+v", name, a)
			}
		}
		t.Logf("%d URLs in outboxes, %d fetched ones", outbox, fetched)
	})
}

// Fsck finds a wrong byte in the outbox of an agent or in its fetched set, and names the place.
func TestFsck_damageOfOutboxAndFetchedSetIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+860, simweb.Faulty()), 3)
		running := b.startAll(b.names)
		time.Sleep(40 * time.Second)
		b.hub.stopAnswering(running["agent-1"].endpoint) // so that there is a backlog for it
		time.Sleep(2 * time.Second)
		running["agent-0"].kill(testbed.Sigkill)
		running["agent-1"].stop()
		running["agent-2"].stop()
		b.wg.Wait()
		disk := b.disks["agent-0"]
		files, tried := testbed.NamedFiles(t, disk), map[string]int{}
		for file, data := range files {
			for _, part := range []string{layout.OutboxDir + "/", layout.FetchedDir + "/", layout.FrontierDir + "/outbox-"} {
				if !strings.HasPrefix(file, "crawl/"+part) || len(strings.Trim(data, "\x00")) < 40 {
					continue
				}
				tried[part]++
				broken := disk.KillClone()
				testbed.FlipByte(t, broken, file, len(strings.TrimRight(data, "\x00"))-5)
				if r := testbed.Fsck(t, broken); r.Sound() {
					t.Errorf("%s has a wrong byte, and fsck calls it sound", file)
				}
			}
		}
		if tried[layout.OutboxDir+"/"] == 0 || tried[layout.FetchedDir+"/"] == 0 {
			t.Errorf("tried %v", tried)
		}
	})
}
