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
		said := `,"drop":[7,0,7,600],"scores":[99,-1,1e99,2.9]`
		x := &scripted{kind: LinkKind, began: time.Now(), said: said, answer: func(int) bool { return true }}
		l := NewLinks(Options{Hooks: []string{"link=x"}, Parallel: 1, Timeout: time.Minute}, x,
			slog.New(slog.DiscardHandler))
		v, err := l.Judge(t.Context(), LinkQuestion{URL: "http://a.test/", Depth: 1}, nil, make([]Link, batchLinks+500))
		if want := []int{0, 7, 600, batchLinks, batchLinks + 7}; err != nil || !slices.Equal(v.Drop, want) {
			t.Errorf("%v, want %v, %v", v.Drop, want, err)
		}
		scores := []int{15, 0, 15, 2}
		if len(v.Scores) != batchLinks+4 || !slices.Equal(v.Scores[:4], scores) || v.Scores[4] != -1 ||
			!slices.Equal(v.Scores[batchLinks:], scores) {
			t.Errorf("scores %v", v.Scores)
		}
		if s := l.Stats(); s.Questions[answered] != 2 || s.Links != batchLinks+500 || s.Dropped != 5 || s.Scored != 8 {
			t.Errorf("%+v", s)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An answer with a place that no batch has, or that is no number, is no answer.
func TestReadAnswer_refusesPlaces(t *testing.T) {
	many := strings.Repeat("1,", batchLinks)
	for drop, isGood := range map[string]bool{
		`],"scores":[1`: true, `],"scores":["1"`: false, `],"scores":[1e999`: false, `],"scores":[` + many + "1": false,
		"0,999": true, "": true, "-1": false, "1000": false, "1.5": false, `"1"`: false, "99999999999999999999": false,
	} {
		text := `{"v":1,"id":1,"drop":[` + drop + `]}`
		frame := string(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) + "\x00\x00\x00\x00" + text
		if _, err := readAnswer(bufio.NewReader(strings.NewReader(frame))); (err == nil) != isGood {
			t.Errorf("[%s]: %v", drop, err)
		}
	}
}
