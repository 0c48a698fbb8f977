package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// choose picks at most most calls of each class: one by chance, the first, the last, and some between. Of many classes
// it picks -classes.
func choose(counts map[string]int, most int, rng *rand.Rand) map[string]map[int]bool {
	chosen := map[string]map[int]bool{}
	classes := slices.DeleteFunc(slices.Sorted(maps.Keys(counts)),
		func(class string) bool { return !strings.Contains(class, *onlyClass) })
	if *classMax > 0 && *classMax < len(classes) && *onlyPoint == "" {
		rng.Shuffle(len(classes), func(i, k int) { classes[i], classes[k] = classes[k], classes[i] })
		classes = classes[:*classMax]
	}
	for _, class := range classes {
		n := counts[class]
		picks := map[int]bool{1 + rng.IntN(n): true}
		if most > 1 {
			picks[1], picks[n] = true, true
		}
		for len(picks) < min(most, n) {
			picks[1+rng.IntN(n)] = true
		}
		chosen[class] = picks
	}
	return chosen
}

// classesOf is what was chosen, where images say it.
func classesOf(images []*Image) map[string]map[int]bool {
	chosen := map[string]map[int]bool{}
	for _, im := range images {
		for _, class := range im.classes {
			chosen[class] = map[int]bool{}
		}
	}
	return chosen
}

// retakes is how often a crawl is recorded at most, so that there is an image of each class: the scheduler has its say,
// and a call that was made in the rehearsal may come a little earlier or later, or not at all. Files of the sieve that
// are written only if a merge is slower than the crawl come in one run of four or so.
const retakes = 16

// record takes images around the chosen calls of a crawl from nothing.
func (tr *trial) record(t *testing.T) []*Image {
	t.Helper()
	tr.chosen = choose(tr.base.counts, *perClass, tr.rng)
	return tr.takeImages(func(pick func(class string, n int) bool) []*Image {
		rec := newRecorder(tr.seed, inFlight, tr.set, pick)
		rec.variant = Variant(*variant)
		return crawl(t, tr.world, nil, rec).images
	})
}

// takeImages runs what takes images of the calls that are picked, and again for the first calls of the classes
// without an image. A class that no further run meets is named, and no longer chosen: on a machine with other work a
// call may come in one run of many.
func (tr *trial) takeImages(take func(pick func(class string, n int) bool) []*Image) []*Image {
	images := take(func(class string, n int) bool {
		if *onlyPoint != "" {
			return *onlyPoint == fmt.Sprintf("%s #%d", class, n)
		}
		return tr.chosen[class][n]
	})
	var met sync.Map // classes with a call in a later run
	for range retakes - 1 {
		missed := tr.missed(images)
		if len(missed) == 0 {
			return images
		}
		images = append(images, take(func(class string, n int) bool {
			met.Store(class, nil)
			return missed[class] && n == 1
		})...)
	}
	for class := range tr.missed(images) {
		if _, ok := met.Load(class); !ok {
			fmt.Fprintf(os.Stdout, "seed %d: the class %q was met in the rehearsal alone, and in none of %d runs\n",
				tr.seed, class, retakes)
			delete(tr.chosen, class)
		}
	}
	return images
}

// missed are the chosen classes without an image.
func (tr *trial) missed(images []*Image) map[string]bool {
	missed := map[string]bool{}
	if taken := classesOf(images); *onlyPoint == "" {
		for class := range tr.chosen {
			if _, ok := taken[class]; !ok {
				missed[class] = true
			}
		}
	}
	return missed
}

// survive goes on from images of each class, chosen by the seed, until each has its floor. It is a fault if one has
// not: an image of another class that is equal counts, and a class with fewer different images needs all
// of them, and one at least.
func (tr *trial) survive(t *testing.T, images []*Image) {
	t.Helper()
	wanted, there := tr.wanted(images)
	next := make(chan *Image, len(wanted))
	for _, im := range wanted {
		next <- im
	}
	close(next)
	t.Run("survive", func(t *testing.T) {
		for range 2 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for im := range next {
					tr.try(t, im)
				}
			})
		}
	})
	if *onlyPoint != "" {
		return
	}
	for _, fault := range tr.belowFloor(there) {
		t.Errorf("seed %d: %s", tr.seed, fault)
	}
}

// belowFloor names the classes with too few tried images.
func (tr *trial) belowFloor(there map[string]int) (faults []string) {
	for _, class := range slices.Sorted(maps.Keys(tr.chosen)) {
		if least := max(1, min(*floor, there[class])); tr.done[class] < least {
			faults = append(
				faults,
				fmt.Sprintf("of %d images of the class %q %d were tried, and must be %d", there[class], class,
					tr.done[class], least),
			)
		}
	}
	return faults
}

// A class that no further run meets needs no image, and one that is met does.
func TestTakeImages_whatIsNotMetAgain(t *testing.T) {
	tr := &trial{chosen: map[string]map[int]bool{"write a": {1: true}, "sync a": {1: true}, "remove a": {1: true}}}
	images := tr.takeImages(func(pick func(class string, n int) bool) []*Image {
		pick("sync a", 1) // its image would be that of another call
		if pick("write a", 1) {
			return []*Image{{classes: []string{"write a"}}}
		}
		return nil
	})
	if _, ok := tr.chosen["remove a"]; len(images) != 1 || ok || len(tr.chosen) != 2 {
		t.Errorf("%d images, chosen are %v", len(images), tr.chosen)
	}
}

// An image of a class is tried before a second one of another, equal images count for each class, and a class without
// an image is a fault.
func TestFloor(t *testing.T) {
	defer func(n int) { *floor = n }(*floor)
	*floor = 1
	image := func(classes ...string) *Image { return &Image{classes: classes} }
	images := []*Image{
		image("write a"),
		image("write a"),
		image("write a"),
		image("sync a", "write a"),
		image("write b"),
		image("not requested"),
	}
	tr := &trial{
		rng:    newRng(1),
		chosen: map[string]map[int]bool{"write a": nil, "sync a": nil, "write b": nil, "remove c": nil},
	}
	wanted, there := tr.wanted(images)
	if len(wanted) > 3 || there["write a"] != 4 || there["sync a"] != 1 {
		t.Errorf("%d images are wanted; %v", len(wanted), there)
	}
	if faults := tr.belowFloor(there); len(faults) != 4 {
		t.Errorf("nothing was tried yet: %q", faults)
	}
	for _, im := range wanted {
		tr.count(im)
	}
	if faults := tr.belowFloor(there); len(faults) != 1 ||
		!strings.Contains(faults[0], `of 0 images of the class "remove c" 0 were tried, and must be 1`) {
		t.Errorf("%q", faults)
	}
}

// wanted are the images to try, and how many there are of each class.
func (tr *trial) wanted(images []*Image) (wanted []*Image, there map[string]int) {
	images, there = slices.Clone(images), map[string]int{}
	if *onlyPoint != "" {
		return images, there
	}
	tr.rng.Shuffle(len(images), func(i, k int) { images[i], images[k] = images[k], images[i] })
	has := map[string]int{}
	for _, im := range images {
		short := *floor == 0
		for _, class := range im.classes {
			there[class]++
			_, chosen := tr.chosen[class]
			short = short || chosen && has[class] < *floor
		}
		if !short {
			continue
		}
		wanted = append(wanted, im)
		for _, class := range im.classes {
			has[class]++
		}
	}
	return wanted, there
}
