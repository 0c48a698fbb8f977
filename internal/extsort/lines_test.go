package extsort_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"orbweaver/internal/extsort"
)

// rangeOf returns the lines of a range of a View.
func rangeOf(t *testing.T, v *extsort.View, from, to string) (got []string) {
	t.Helper()
	var end []byte
	if to != "" {
		end = []byte(to)
	}
	m, err := v.Open([]byte(from), end, 64<<10)
	for ; err == nil && m.Line() != nil; err = m.Next() {
		got = append(got, string(m.Line()))
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Each range of a View has what sorting in memory gives, also after lines were added behind it.
func TestViewsHaveTheLinesOfTheirTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	scratch := extsort.NewScratch()
	lines := extsort.NewLines(scratch, 8<<10)
	var all []string
	type moment struct {
		view *extsort.View
		want []string
	}
	var moments []moment
	for range 60 {
		for range rng.IntN(300) {
			line := fmt.Sprintf("%0*d", 1+rng.IntN(12), rng.IntN(400))
			all = append(all, line)
			if err := lines.Add([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		moments = append(moments, moment{lines.View(), slices.Sorted(slices.Values(all))})
	}
	if err := lines.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, m := range moments {
		from, to := fmt.Sprint(rng.IntN(400)), fmt.Sprint(rng.IntN(400))
		if rng.IntN(4) == 0 {
			from, to = "", ""
		}
		var want []string
		for _, line := range m.want {
			if line >= from && (to == "" || line < to) {
				want = append(want, line)
			}
		}
		if got := rangeOf(t, m.view, from, to); !slices.Equal(got, want) {
			t.Fatalf("%q to %q of %d lines: %d, want %d", from, to, len(m.want), len(got), len(want))
		}
	}
	var text bytes.Buffer
	if err := lines.Write(&text); err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(text.Bytes(), []byte("\n")); got != len(all) || int64(got) != lines.Len() {
		t.Errorf("%d lines were written, want %d", got, len(all))
	}
	if err := scratch.Close(); err != nil {
		t.Fatal(err)
	}
}

// Lines take the memory that they have, and not more, however many they are.
func TestLinesKeepWithinTheirMemory(t *testing.T) {
	scratch := extsort.NewScratch()
	const memory = 1 << 20
	lines := extsort.NewLines(scratch, memory)
	line := bytes.Repeat([]byte("x"), 200)
	for range 50_000 {
		if err := lines.Add(line); err != nil {
			t.Fatal(err)
		}
		if lines.Memory() > memory*3/2 {
			t.Fatalf("%d bytes in memory", lines.Memory())
		}
	}
	if err := lines.Write(io.Discard); err != nil {
		t.Fatal(err)
	}
	if lines.Memory() != 0 {
		t.Errorf("%d bytes in memory after the merge began", lines.Memory())
	}
	if err := scratch.Close(); err != nil {
		t.Fatal(err)
	}
}
