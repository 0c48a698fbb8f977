package admission

import (
	"fmt"
	"log/slog"
	"testing"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs/vfstest"
)

// The seeds are lines of text.
func TestGolden_seeds(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	seeds := seedsOf{"http://A.test/x/../", "http://b.test:8080"}
	if _, err := KeepSeeds(disk, "d", seeds, Offered{}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "seeds-1", "e06538718f1d9bd3453f60a035c7d28852bead61a1a57841dfa04b14c26cc05d",
		vfstest.ReadAll(t, disk, SeedsFile("d")))
}

// seedsOf is a SeedSource of strings.
type seedsOf []string

func (s seedsOf) Each(f func(where string, url []byte) error) error {
	for i, u := range s {
		if err := f(fmt.Sprintf("seed %d", i+1), []byte(u)); err != nil {
			return err
		}
	}
	return nil
}
