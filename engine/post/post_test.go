package post

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Batches sent one after the other arrive in that order, whole, under the name of their sender, and Send returns after Receive.
func TestSend_arrivesWholeAndIsAcknowledgedWhenReceived(t *testing.T) {
	for _, secure := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			v := newVillage(t, secure)
			var got []string
			_, b := v.agent("b", Options{Receive: func(_ context.Context, from string, batch []byte) error {
				time.Sleep(time.Second)
				got = append(got, from+":"+string(batch))
				return nil
			}})
			a, _ := v.agent("a", Options{})
			var want []string
			for i := range 5 {
				text := strings.Repeat(fmt.Sprintf("http://example.org/%d\n", i), 1+1000*i)
				if i == 4 {
					text = ""
				}
				began := time.Now()
				if err := a.Send(t.Context(), b, []byte(text)); err != nil {
					t.Fatal(err)
				}
				if time.Since(began) < time.Second {
					t.Error("acknowledged before it was received")
				}
				want = append(want, "a:"+text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d letters arrived, %d were sent, or they differ", len(got), len(want))
			}
			out := a.Stats().Peers[0]
			if f := out.Out; out.ID != "b" || out.Addr != b.Addr || out.Version != 1 || out.Since.IsZero() || f.Letters != 5 || f.Acknowledged != 5 || f.UnderWay != 0 || f.Packed*10 > f.Bytes {
				t.Errorf("%+v", out)
			}
		})
	}
}

// Questions are answered, and what goes wrong there is told apart.
func TestAsk_isAnsweredOrToldWhyNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		_, b := v.agent("b", Options{Answer: func(_ context.Context, from string, kind byte, q []byte) ([]byte, error) {
			switch kind {
			case 1:
				return bytes.Repeat([]byte(from+string(q)), 1000), nil
			case 2:
				return nil, &Quota{Wait: 1500 * time.Millisecond}
			case 3:
				return nil, fmt.Errorf("what nonsense: %w", ErrRefused)
			case 4:
				return make([]byte, 2<<20), nil
			}
			return nil, errors.New("no idea")
		}})
		a, _ := v.agent("a", Options{})
		got, err := a.Ask(t.Context(), b, 1, []byte("?"))
		if err != nil || !bytes.Equal(got, bytes.Repeat([]byte("a?"), 1000)) {
			t.Errorf("%.20q, %v", got, err)
		}
		var q *Quota
		if _, err := a.Ask(t.Context(), b, 2, nil); !errors.As(err, &q) || q.Wait != 1500*time.Millisecond {
			t.Error(err)
		}
		if _, err := a.Ask(t.Context(), b, 3, nil); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "what nonsense") {
			t.Error(err)
		}
		for kind := byte(4); kind < 6; kind++ {
			if _, err := a.Ask(t.Context(), b, kind, nil); !errors.Is(err, ErrFailed) {
				t.Error(err)
			}
		}
	})
}

// Both directions at once, several at a time: nothing is lost and nobody waits for the other.
func TestSend_bothWaysAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		var mu sync.Mutex
		got := make(map[string]int)
		o := Options{Receive: func(_ context.Context, from string, batch []byte) error {
			time.Sleep(time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			got[from+string(batch)]++
			return nil
		}}
		a, toA := v.agent("a", o)
		b, toB := v.agent("b", o)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				if err := a.Send(t.Context(), toB, fmt.Appendf(nil, "%d", i)); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if err := b.Send(t.Context(), toA, fmt.Appendf(nil, "%d", i)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i := range 200 {
			if got[fmt.Sprintf("a%d", i)] != 1 || got[fmt.Sprintf("b%d", i)] != 1 {
				t.Errorf("letter %d arrived %d and %d times", i, got[fmt.Sprintf("a%d", i)], got[fmt.Sprintf("b%d", i)])
			}
		}
	})
}
