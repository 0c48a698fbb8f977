package hook

import (
	"bufio"
	"encoding/binary"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Links are asked about in batches. A place that no link of its batch has is ignored.
func TestLinks_areAskedInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &scripted{kind: LinkKind, began: time.Now(), said: `,"drop":[7,0,7,600]`, answer: func(int) bool { return true }}
		l := NewLinks(Options{Hooks: []string{"link=x"}, Parallel: 1, Timeout: time.Minute}, x,
			slog.New(slog.DiscardHandler))
		places, err := l.Drops(t.Context(), "http://a.test/", 1, make([]Link, batchLinks+500))
		if want := []int{0, 7, 600, batchLinks, batchLinks + 7}; err != nil || !slices.Equal(places, want) {
			t.Errorf("%v, want %v, %v", places, want, err)
		}
		if s := l.Stats(); s.Questions[answered] != 2 || s.Links != batchLinks+500 || s.Dropped != 5 {
			t.Errorf("%+v", s)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An answer with a place that no batch has, or that is no number, is no answer.
func TestReadAnswer_refusesPlaces(t *testing.T) {
	for drop, isGood := range map[string]bool{
		"0,999": true, "": true, "-1": false, "1000": false, "1.5": false, `"1"`: false, "99999999999999999999": false,
	} {
		text := `{"v":1,"id":1,"drop":[` + drop + `]}`
		frame := string(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) + "\x00\x00\x00\x00" + text
		if _, err := readAnswer(bufio.NewReader(strings.NewReader(frame))); (err == nil) != isGood {
			t.Errorf("[%s]: %v", drop, err)
		}
	}
}
