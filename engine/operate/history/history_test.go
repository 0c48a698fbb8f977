package history

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/golden"
)

const epoch = int64(1_800_000_000) // the start of a minute

// sampleOf is a sample whose first value is v and whose others are not known.
func sampleOf(v float32) []float32 {
	row := make([]float32, len(Names()))
	for i := range row {
		row[i] = float32(math.NaN())
	}
	row[0] = v
	return row
}

// pages is the points of the first name.
func pages(s Series) Points { return s.Series[Names()[0]] }

// An hour of seconds and a week of minutes stay, the oldest go, and the memory is that of the first sample.
func TestHistory_keepsAnHourOfSecondsAndAWeekOfMinutes(t *testing.T) {
	h := New()
	const days = 9
	end := epoch + days*24*3600
	for at := epoch; at < end; at++ {
		h.Add(at, sampleOf(float32(at%60)))
	}
	if h.seconds.count != secondsKept || h.minutes.count != minutesKept {
		t.Errorf("%d seconds, %d minutes", h.seconds.count, h.minutes.count)
	}
	hour := h.Query(end-3600, end-1, 3600)
	if p := pages(hour); hour.Step != 1 || len(p) != 3600 || p[61] != 1 {
		t.Errorf("an hour: step %d, %d points", hour.Step, len(p))
	}
	week := h.Query(end-7*24*3600+120, end-120, 1<<20)
	for i, v := range pages(week) {
		if v != 29.5 {
			t.Fatalf("minute %d of the week: %v", i, v)
		}
	}
	if size := len(h.Encode(nil)); size > 1<<20 {
		t.Errorf("the file has %d bytes", size)
	}
}

// A point is the mean of its samples. A time in which no crawl ran has none.
func TestHistory_aQueryMakesMeansAndLeavesGaps(t *testing.T) {
	h := New()
	for at := epoch; at < epoch+10; at++ {
		h.Add(at, sampleOf(4))
	}
	for at := epoch + 20; at < epoch+30; at++ {
		h.Add(at, sampleOf(float32(at-epoch-20)))
	}
	s := h.Query(epoch, epoch+29, 3)
	text, err := json.Marshal(pages(s))
	if err != nil || s.Step != 10 || s.From != epoch || string(text) != "[4,null,4.5]" {
		t.Errorf("%s, step %d, from %d: %v", text, s.Step, s.From-epoch, err)
	}
	if text, err := json.Marshal(h.Query(epoch, epoch+1, 2)); err != nil || !json.Valid(text) {
		t.Errorf("%s, %v", text, err)
	}
}

// A clock that was set back takes the samples of the future with it.
func TestHistory_aClockThatWasSetBack(t *testing.T) {
	h := New()
	for at := epoch; at < epoch+100; at++ {
		h.Add(at, sampleOf(1))
	}
	h.Add(epoch+50, sampleOf(2))
	if p := pages(h.Query(epoch+49, epoch+60, 100)); p[0] != 1 || p[1] != 2 || p[2] == p[2] {
		t.Errorf("%v", p)
	}
	h.Add(epoch-1000, sampleOf(3))
	if h.seconds.count != 1 || h.minutes.count != 0 && h.minutes.times[h.minutes.at(0)] > epoch {
		t.Errorf("%d seconds, %d minutes", h.seconds.count, h.minutes.count)
	}
}

// filled is a history with samples of both resolutions.
func filled() *History {
	h := New()
	for at := epoch; at < epoch+150; at++ {
		row := make([]float32, len(Names()))
		for i := range row {
			row[i] = float32(at-epoch) + float32(i)/4
		}
		h.Add(at, row)
	}
	return h
}

// The file of an earlier version is read. Its names are those of then: a version with more names encodes other bytes.
func TestGolden_history(t *testing.T) {
	const file = "history-1.bin"
	if golden.Writing() {
		golden.Add(t, file, filled().Encode(nil))
	}
	old := golden.Read(t, file, "41e6cd159bec82947274499e8aa8dbc985ffb5119284e34bcd7dad5f53fe9f1f")
	h, err := Decode(old)
	if err != nil {
		t.Fatal(err)
	}
	s := h.Query(epoch, epoch+149, 150)
	for i, name := range []string{
		"pages_per_second", "attempts_per_second", "retries_per_second", "urls_finished_per_second",
		"urls_admitted_per_second", "received_bytes_per_second", "stored_bytes_per_second", "cpu_cores",
		"urls_queued", "urls_in_flight", "active_fetches", "front", "hosts_known", "sync_seconds", "memory_bytes",
	} {
		if p := s.Series[name]; len(p) != 150 || p[149] != 149+float32(i)/4 {
			t.Errorf("%s: %v", name, p)
		}
	}
	if h.minutes.count != 2 || h.minutes.row(1)[0] != 89.5 {
		t.Errorf("%d minutes, the last %v", h.minutes.count, h.minutes.row(1))
	}
	if len(Names()) == 15 && !bytes.Equal(h.Encode(nil), old) {
		t.Error("encoded again, it differs")
	}
}

// A file of a version with other names gives what both know.
func TestDecode_takesTheNamesThatItKnows(t *testing.T) {
	b := append([]byte(fileMagic), 2, 0)
	b = append(append(b, 5), "other"...)
	b = append(append(b, 9), "cpu_cores"...)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint64(b, uint64(epoch))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(7))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(2))
	b = binary.LittleEndian.AppendUint32(b, 0)
	h, err := Decode(binary.LittleEndian.AppendUint64(b, xxh3.Hash(b)))
	if err != nil {
		t.Fatal(err)
	}
	s := h.Query(epoch, epoch, 1)
	if cores := s.Series["cpu_cores"]; cores[0] != 2 || pages(s)[0] == pages(s)[0] {
		t.Errorf("%v, %v", cores, pages(s))
	}
}

// Damage is found, wherever it is.
func TestDecode_refusesDamage(t *testing.T) {
	whole := filled().Encode(nil)
	for i := 0; i < len(whole); i += 97 {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 4
		if _, err := Decode(damaged); err == nil {
			t.Errorf("a changed byte at %d is taken", i)
		}
		if _, err := Decode(whole[:i]); err == nil {
			t.Errorf("a file that ends at %d is taken", i)
		}
	}
}

// Whatever stands in the file, the reader needs no more memory than New, and what it takes it writes again.
func FuzzDecode(f *testing.F) {
	f.Add(filled().Encode(nil)[len(fileMagic):])
	f.Add(New().Encode(nil)[len(fileMagic):])
	f.Add([]byte{255, 255})
	f.Fuzz(func(t *testing.T, body []byte) {
		b := append([]byte(fileMagic), body...)
		h, err := Decode(binary.LittleEndian.AppendUint64(b, xxh3.Hash(b)))
		if err != nil {
			return
		}
		again, err := Decode(h.Encode(nil))
		if err != nil || again.seconds.count != h.seconds.count || again.minutes.count != h.minutes.count {
			t.Errorf("what was taken is not taken again: %v", err)
		}
	})
}
