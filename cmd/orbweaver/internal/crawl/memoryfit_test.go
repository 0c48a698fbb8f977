package crawl

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"orbweaver/engine"
	"orbweaver/engine/net/politeness"
	"orbweaver/internal/plural"
)

// usual is a crawl without settings.
func usual() engine.Config {
	c := engine.Config{Politeness: politeness.Default()}.WithDefaults()
	c.Fetch = c.Fetch.WithDefaults()
	return c
}

// Where there is room, a crawl uses what it was told to. Where there is less, its caps sum up to what there is, none is
// below the least that works, and the log says so once. Where there is nearly nothing, it says how much it needs, and
// that is true.
func TestHostile_S11_aCrawlFitsIntoTheMemoryThatThereIs(t *testing.T) {
	single := usual()
	single.Workers.KeepAlive, single.Workers.IdleConnsMax = -1, 0
	fits(t, usual())
	fits(t, single)
	largest := usual()
	for _, m := range memoryCaps(&largest) {
		*m.bytes = 1 << 62 // two of them are more than a number can say
	}
	largest.Sieve.BucketBytes = 64 << 30
	fits(t, largest)
	if plan := fmt.Sprint(memoryPlan(single)...); strings.Contains(plan, "connections") {
		t.Errorf("without connections that wait: %s", plan)
	}
	if plan := fmt.Sprintln(memoryPlan(usual())...); !strings.Contains(plan, "connections 32 MiB") {
		t.Errorf("connections that wait: %s", plan)
	}
}

func fits(t *testing.T, whole engine.Config) {
	t.Helper()
	for _, allowed := range []int64{math.MaxInt64, 64 << 30, 2 << 30, 800 << 20, 300 << 20, 128 << 20, 80 << 20} {
		var said bytes.Buffer
		cfg := whole
		if err := fitMemory(slog.New(slog.NewTextHandler(&said, nil)), &cfg, allowed); err != nil {
			t.Fatalf("%s: %v", plural.Bytes(allowed), err)
		}
		if sum := memorySum(cfg); sum > memoryOurs(allowed) {
			t.Errorf("of %s the caps take %s", plural.Bytes(allowed), plural.Bytes(sum))
		}
		for _, m := range memoryCaps(&cfg) {
			if *m.bytes < m.least {
				t.Errorf(
					"%s: a cap of %s is below %s", plural.Bytes(allowed), plural.Bytes(*m.bytes),
					plural.Bytes(m.least),
				)
			}
		}
		if err := cfg.Validate(); err != nil {
			t.Errorf("%s: %v", plural.Bytes(allowed), err)
		}
		short := memoryOurs(allowed) < memorySum(whole)
		if told := strings.Count(said.String(), "\n"); told > 1 || (told == 1) != short {
			t.Errorf("%s: the log says %q", plural.Bytes(allowed), said.String())
		}
		if !short && memorySum(cfg) != memorySum(whole) {
			t.Errorf("%s: the caps became %s without need", plural.Bytes(allowed), plural.Bytes(memorySum(cfg)))
		}
	}
}

func TestHostile_S11_tooLittleMemoryIsNamedWithWhatIsNeeded(t *testing.T) {
	whole := usual()
	cfg := whole
	err := fitMemory(slog.New(slog.DiscardHandler), &cfg, 20<<20)
	if !errors.Is(err, errLittleMemory) || !strings.Contains(err.Error(), "20 MiB") {
		t.Fatalf("it says %v", err)
	}
	need := memorySum(cfg) + memorySum(cfg)/7 + 1<<20
	if !strings.Contains(err.Error(), plural.Bytes(need-1<<20)) {
		t.Errorf("it says %v, and needs %s", err, plural.Bytes(need))
	}
	again := whole
	if err := fitMemory(slog.New(slog.DiscardHandler), &again, need); err != nil {
		t.Errorf("with what it asked for: %v", err)
	}
}
