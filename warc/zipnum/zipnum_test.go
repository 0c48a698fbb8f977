package zipnum

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc/cdxj"
)

// manyLines are sorted lines, in which keys repeat over several blocks.
func manyLines(n int) (lines []string) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		lines = append(lines, fmt.Sprintf("test,s%03d)/%d 2026010203%04d {\"filename\":\"a\"}\n",
			rng.IntN(40), rng.IntN(3), i))
	}
	slices.Sort(lines)
	return lines
}

func writeLines(t *testing.T, fsys vfs.FS, o Options, lines []string) Result {
	t.Helper()
	r, err := Write(fsys, "c", o, func(add func([]byte) error) error {
		for _, line := range lines {
			if err := add([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func noDamage(t *testing.T) func(string, int64, string) {
	t.Helper()
	return func(file string, at int64, what string) { t.Errorf("%s at %d: %s", file, at, what) }
}

// Each range of a cluster has the lines that a linear scan finds.
func TestCursorAgreesWithAScan(t *testing.T) {
	lines := manyLines(300)
	for _, o := range []Options{{BlockLines: 7, PartBytes: 600}, {BlockLines: 1}, {}} {
		fsys := vfs.NewMem(1)
		if r := writeLines(t, fsys, o, lines); r.Lines != len(lines) || o.PartBytes > 0 && r.Parts < 3 {
			t.Fatalf("%+v", r)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for range 60 {
			from, to := lines[rng.IntN(len(lines))], lines[rng.IntN(len(lines))]
			from, to = from[:rng.IntN(len(from))], to[:rng.IntN(len(to))]
			var want, got []string
			for _, line := range lines {
				if line = strings.TrimSuffix(line, "\n"); line >= from && line < to {
					want = append(want, line)
				}
			}
			c, err := Open(fsys, "c", []byte(from), []byte(to), noDamage(t))
			for err == nil && c.Line() != nil {
				got = append(got, string(c.Line()))
				err = c.Next()
			}
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%+v: %q to %q: %d lines, want %d, %v", o, from, to, len(got), len(want), err)
			}
		}
	}
}

// The files are those that other programs read: sorted blocks of 3,000 lines, each a gzip member, found by tabs.
func TestClusterIsWhatOthersRead(t *testing.T) {
	fsys, lines := vfs.NewMem(1), manyLines(7000)
	if r := writeLines(t, fsys, Options{}, lines); r.Blocks != 3 || r.Parts != 1 {
		t.Fatalf("%+v", r)
	}
	index, err := vfs.ReadFile(fsys, "c/cluster.idx")
	if err != nil {
		t.Fatal(err)
	}
	part, err := vfs.ReadFile(fsys, "c/cdx-00000.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(part)) // all members, one after another
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != strings.Join(lines, "") {
		t.Error(len(text), err)
	}
	at := int64(0)
	for i, line := range strings.Split(strings.TrimSpace(string(index)), "\n") {
		fields := strings.Split(line, "\t")
		first := lines[i*3000]
		if len(fields) != 5 || !strings.HasPrefix(first, fields[0]+" {") || fields[1] != "cdx-00000.gz" ||
			fields[2] != fmt.Sprint(at) || fields[4] != fmt.Sprint(i+1) {
			t.Errorf("%q at %d, first line %q", line, at, first)
		}
		b, _ := parseBlock([]byte(line))
		at += b.length
	}
	if at != int64(len(part)) {
		t.Error(at, len(part))
	}
	if loc, err := vfs.ReadFile(fsys, "c/cluster.loc"); err != nil || string(loc) != "cdx-00000.gz\tcdx-00000.gz\n" {
		t.Error(string(loc), err)
	}
}

// Lines that are not sorted make no cluster, one that is there stays, and damage is reported.
func TestFaultsOfClusters(t *testing.T) {
	fsys := vfs.NewMem(1)
	_, err := Write(fsys, "c", Options{}, func(add func([]byte) error) error {
		return errors.Join(add([]byte("b 1 {}\n")), add([]byte("a 1 {}\n")))
	})
	if !errors.Is(err, ErrOrder) {
		t.Error(err)
	}
	if _, err := fsys.Size("c/" + IndexName); err == nil {
		t.Error("there is an index")
	}
	writeLines(t, fsys, Options{}, manyLines(10))
	if _, err := Write(fsys, "c", Options{}, func(func([]byte) error) error { return nil }); err == nil {
		t.Error("a cluster is replaced")
	}
	for _, damage := range []string{
		"words\n", "a 1\t../x\t0\t9\t1\n", "a 1\tcdx-00000.gz\t-1\t9\t1\n", "a 1\tcdx-00000.gz\t5\t9\t1\n",
	} {
		err := vfs.WriteAtomic(fsys, "c/"+IndexName, func(w io.Writer) error {
			_, err := io.WriteString(w, damage)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		faults := 0
		c, err := Open(fsys, "c", nil, []byte("z"), func(string, int64, string) { faults++ })
		if err != nil || c.Line() != nil || faults != 1 {
			t.Errorf("%q: %d faults, %v", damage, faults, err)
		}
	}
}

// What is damaged in a cluster is reported with its place, and all other lines are read: a line of the index, one of a
// block, and a block.
func TestCursor_readsWhatIsWhole(t *testing.T) {
	long := "test,b)/ 2026 {" + strings.Repeat(" ", cdxj.LineMax) + "}\n"
	var parts []byte
	var index, where string
	for i, lines := range []string{
		"test,a)/ 2026 {}\n" + long + "test,c)/ 2026 {}\n", "test,d)/ 2026 {}\n", "test,e)/ 2026 {}\n",
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, lines)
		_ = z.Close() // in memory
		if i == 1 {
			clear(packed.Bytes()[10:])
			where = fmt.Sprintf("cluster.idx 0, cdx-00000.gz 0, cdx-00000.gz %d, ", len(parts))
		}
		index += fmt.Sprintf("%s\tcdx-00000.gz\t%d\t%d\t%d\n", lines[:14], len(parts), packed.Len(), i+1)
		parts = append(parts, packed.Bytes()...)
	}
	fsys := vfstest.WithDir(t, "c")
	vfstest.WriteAll(t, fsys, "c/cluster.idx", []byte(long+index))
	vfstest.WriteAll(t, fsys, "c/cdx-00000.gz", parts)
	var got, faults string
	c, err := Open(fsys, "c", nil, []byte("~"), func(file string, at int64, what string) {
		faults += fmt.Sprintf("%s %d, ", file, at)
		if !strings.HasSuffix(what, "left out") {
			t.Error(what)
		}
	})
	for err == nil && c.Line() != nil {
		got += string(c.Line()[5])
		err = c.Next()
	}
	if err != nil || got != "ace" || faults != where {
		t.Errorf("%q, faults at %q, want %q, %v", got, faults, where, err)
	}
}

// A cluster of many blocks is read in batches, with the lines of all.
func TestCursor_readsManyBlocks(t *testing.T) {
	lines := manyLines(2*batchMost + 10)
	fsys := vfs.NewMem(1)
	writeLines(t, fsys, Options{BlockLines: 1}, lines)
	c, err := Open(fsys, "c", []byte(strings.TrimSuffix(lines[5], "\n")), []byte("~"), noDamage(t))
	n := 5
	for ; err == nil && c.Line() != nil; n++ {
		if string(c.Line())+"\n" != lines[n] {
			t.Fatalf("line %d is %q, want %q", n, c.Line(), lines[n])
		}
		err = c.Next()
	}
	if err != nil || n != len(lines) {
		t.Errorf("%d lines of %d, %v", n, len(lines), err)
	}
}

// What a foreign cluster says of itself costs little memory: a block that unpacks to a gigabyte, and the same block a
// thousand times.
func TestCursor_boundsWhatIsUnpacked(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	line := "com,a)/ 20260101000000 {" + strings.Repeat(" ", 1000) + "}\n"
	for range 1 << 17 {
		if _, err := z.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	index := func(offsets ...int) (text string) {
		for _, at := range offsets {
			text += fmt.Sprintf("com,a)/ 20260101000000\tcdx-00000.gz\t%d\t%d\t1\n", at, bomb.Len())
		}
		return text
	}
	var long bytes.Buffer
	z = gzip.NewWriter(&long)
	_, _ = z.Write(make([]byte, 4*cdxj.LineMax))
	_ = z.Close() // in memory
	for name, files := range map[string][2]string{
		"a block":       {index(0), bomb.String()},
		"the same":      {index(make([]int, 1000)...), bomb.String()},
		"a line":        {fmt.Sprintf("a\tcdx-00000.gz\t0\t%d\t1\n", long.Len()), long.String()},
		"a long index":  {"a\tcdx-00000.gz\t0\t5\t1" + strings.Repeat("1", cdxj.LineMax) + "\n", ""},
		"a long block":  {fmt.Sprintf("a\tcdx-00000.gz\t0\t%d\t1\n", blockMost+1), ""},
		"a path beyond": {"a\t../cdx-00000.gz\t0\t5\t1\n", ""},
	} {
		fsys := vfs.NewMem(1)
		if err := fsys.MkdirAll("c"); err != nil {
			t.Fatal(err)
		}
		vfstest.WriteAll(t, fsys, "c/cluster.idx", []byte(files[0]))
		vfstest.WriteAll(t, fsys, "c/cdx-00000.gz", []byte(files[1]))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lines, faults := 0, 0
		c, err := Open(fsys, "c", nil, []byte("~"), func(string, int64, string) { faults++ })
		for ; err == nil && c.Line() != nil; lines++ {
			err = c.Next()
		}
		runtime.ReadMemStats(&after)
		used, most := after.TotalAlloc-before.TotalAlloc, unpackedFree+unpackedMost*bomb.Len()+cdxj.LineMax
		if used > 4<<20 || lines*len(line) > most || err != nil || faults == 0 || faults > damageMost {
			t.Errorf("%s: %d lines, %d faults, %d bytes allocated, %v", name, lines, faults, used, err)
		}
	}
}
