package storage

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// wordsOf makes a dictionary from what a crawl stored.
func wordsOf(t *testing.T, fsys vfs.FS) []byte {
	t.Helper()
	var samples [][]byte
	testbed.EachRecord(t, fsys, func(rec *warc.RecordRead) { samples = append(samples, rec.Block) })
	words, err := member.TrainDictionary(samples, 4<<10)
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// A crawl whose files begin with a dictionary is killed again and again, by power cuts too, and ends with a sound
// archive; so it does when its frontier is rebuilt.
func TestKill_aCrawlWithADictionaryEndsWithASoundArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+42, simweb.Plain()), true)
		if _, err := before.Crawl(t.Context(), before.Config(), before.FS); err != nil {
			t.Fatal(err)
		}
		if err := before.Net.Close(); err != nil {
			t.Error(err)
		}
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+43, simweb.Faulty()), false)
		cfg := rig.Config()
		cfg.Limits.StallWait = time.Hour
		testbed.AllMetadata(&cfg)
		cfg.Archive.Compression, cfg.Archive.Dictionary, cfg.Archive.SizeMax = warc.Zstd, wordsOf(t, before.FS), 1<<16
		rng := rand.New(rand.NewPCG(*testbed.FirstSeed, 43))
		disk, kills := rig.FS, 0
		for ; kills < 8; kills++ {
			death := testbed.Sigkill
			if kills%2 == 1 {
				death = func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) }
			}
			clone, ended := testbed.Kill(t, rig, cfg, disk,
				time.Second+time.Duration(rng.Int64N(int64(20*time.Second))), death)
			disk = clone
			if ended {
				break
			}
		}
		if kills < 3 {
			t.Fatalf("%d kills", kills)
		}
		testbed.Rebuild(t, rig, cfg, disk)
		testbed.ResumeToEnd(t, rig, cfg, disk, (kills+1)*cfg.Workers.Fetchers)
	})
}
