package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc/member"
)

// readPlainly reads records without ScanRecords: the model.
func readPlainly(t testing.TB, b []byte, o ReaderOptions) (records []string, faults []string) {
	t.Helper()
	z := NewReader(bytes.NewReader(b), o)
	defer z.Close()
	for {
		rec, err := z.Next()
		if err == io.EOF {
			return records, faults
		}
		if err == nil {
			_, err = rec.ReadBlock(BlockMax)
		}
		var damage *Fault
		switch {
		case err == nil:
			records = append(records, recordText(rec))
		case errors.As(err, &damage):
			faults = append(faults, damage.Error())
		default:
			t.Fatal(err)
		}
	}
}

func recordText(rec *RecordRead) string {
	return fmt.Sprintf("%d+%d %s %s %x", rec.Offset, rec.Length, rec.Type, rec.TargetURI, rec.Block)
}

func scanAll(t testing.TB, b []byte, o ReaderOptions) (records []string, faults []string) {
	t.Helper()
	z := NewReader(bytes.NewReader(b), o)
	defer z.Close()
	err := ScanRecords(z, func(rec *RecordRead) error {
		if _, err := rec.ReadBlock(BlockMax); err != nil {
			return err
		}
		records = append(records, recordText(rec))
		return nil
	}, func(f *Fault) error {
		faults = append(faults, f.Error())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records, faults
}

// With a wrong byte anywhere, in the frame, header, block, checksum or end of a record, the scan returns what the model
// returns. In a gzip file every record without the wrong byte is there, at its offset.
func TestScanOfDamagedFileEqualsModel(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd, None} {
		b, o := sample(t, c, 2), strict()
		o.Form, o.OneMember = &c, true
		sound, faults := scanAll(t, b, o)
		if len(sound) < 5 || len(faults) > 0 {
			t.Fatal(c, len(sound), faults)
		}
		for at := 0; at < len(b); at += 11 {
			damaged := bytes.Clone(b)
			damaged[at] ^= 0x55
			records, faults := scanAll(t, damaged, o)
			wantRecords, wantFaults := readPlainly(t, damaged, o)
			if !slices.Equal(records, wantRecords) || !slices.Equal(faults, wantFaults) {
				t.Fatalf("%v, byte %d: %d records and faults %q, want %d and %q", c, at, len(records), faults,
					len(wantRecords), wantFaults)
			}
			if c != Gzip {
				continue
			}
			for _, text := range sound {
				var offset, length int
				if _, err := fmt.Sscanf(text, "%d+%d", &offset, &length); err != nil {
					t.Fatal(err)
				}
				if (at < offset || at >= offset+length) && !slices.Contains(records, text) {
					t.Fatalf("byte %d costs the record at %d, which does not contain it", at, offset)
				}
			}
		}
		truncated, _ := scanAll(t, b[:len(b)-1], o)
		if !slices.Equal(truncated, sound[:len(sound)-1]) {
			t.Errorf("%v: without its last byte the file has %d records of %d", c, len(truncated), len(sound))
		}
	}
}

func TestScanReturnsErrorsOfItsCaller(t *testing.T) {
	b := sample(t, Gzip, 2)
	stop := errors.New("stop")
	calls := 0
	one := func(*RecordRead) error { calls++; return stop }
	z := NewReader(bytes.NewReader(b), strict())
	defer z.Close()
	if err := ScanRecords(z, one, StopAtDamage); err != stop || calls != 1 { //nolint:errorlint // unwrapped
		t.Errorf("%v after %d records", err, calls)
	}
	z.Reset(bytes.NewReader(b[:len(b)-1]), strict())
	err := ScanRecords(z, func(rec *RecordRead) error { return skipBlock(rec) }, StopAtDamage)
	var damage *Fault
	if !errors.As(err, &damage) || !errors.Is(err, member.ErrTruncated) {
		t.Errorf("a damaged file: %v", err)
	}
	z.Reset(bytes.NewReader(b[:len(b)-1]), strict())
	err = ScanRecords(z, func(rec *RecordRead) error { return skipBlock(rec) }, func(*Fault) error { return stop })
	if err != stop { //nolint:errorlint // unwrapped
		t.Errorf("an error of onDamage: %v", err)
	}
}

func TestReadFileStopsAtLength(t *testing.T) {
	fsys := vfs.NewMem(1)
	w, e := openTest(t, fsys, Gzip, 1<<20, nil), newTestEncoder(t, Gzip)
	writePages(t, w, e, 0, 2)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := Files(fsys, "warc")
	if err != nil {
		t.Fatal(err)
	}
	info := files[0]
	ends := []int64{0}
	read := func(length int64) (n int, err error) {
		err = ReadFile(fsys, "warc", info, length, ReaderOptions{}, func(z *Reader) error {
			return ScanRecords(z, func(rec *RecordRead) error {
				if err := skipBlock(rec); err != nil {
					return err
				}
				n++
				if length == math.MaxInt64 {
					ends = append(ends, rec.Offset+rec.Length)
				}
				return nil
			}, StopAtDamage)
		})
		return n, err
	}
	if _, err := read(math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	for n, end := range ends {
		if got, err := read(end); got != n || err != nil {
			t.Errorf("%d of the first %d bytes: %v", got, end, err)
		}
		var damage *Fault
		if _, err := read(end - 1); n > 0 && (!errors.As(err, &damage) || damage.File != info.Name) {
			t.Errorf("the first %d bytes: %v", end-1, err)
		}
	}
	info.Name = "absent-" + info.Name
	if _, err := read(1); err == nil {
		t.Error("a missing file is read")
	}
}

// For any bytes the scan ends, and returns the records and faults of the model.
func FuzzScan(f *testing.F) {
	for _, c := range []Compression{Gzip, Zstd, None} {
		b := sample(f, c, 1)
		f.Add(b)
		f.Add(b[:len(b)/2])
		f.Add(append(bytes.Clone(b[:len(b)/2]), b...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o := strict()
		records, faults := scanAll(t, b, o)
		wantRecords, wantFaults := readPlainly(t, b, o)
		if !slices.Equal(records, wantRecords) || !slices.Equal(faults, wantFaults) {
			t.Fatalf("%d records and faults %q, want %d and %q", len(records), faults, len(wantRecords), wantFaults)
		}
	})
}
