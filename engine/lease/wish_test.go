package lease

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

func TestWishesAndAnswersAreReadAsTheyWereWritten(t *testing.T) {
	want := []Wish{{Want, Addr{1, 2, 15: 3}, 500 * time.Millisecond}, {Hold, Addr{}, 0}, {Free, Addr{9}, time.Minute}}
	var b []byte
	for _, w := range want {
		b = AppendWish(b, w)
	}
	i := 0
	for w, err := range Wishes(b) {
		if err != nil || w != want[i] {
			t.Errorf("wish %d: %+v, %v", i, w, err)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d of %d wishes", i, len(want))
	}
	a := AppendAnswer(AppendAnswer(nil, Answer{true, true, 100 * time.Microsecond, 2900 * time.Microsecond}), Answer{For: 1100 * time.Microsecond})
	all, err := Answers(a, 2)
	if err != nil || all[0] != (Answer{true, true, time.Millisecond, 2 * time.Millisecond}) || all[1] != (Answer{For: 2 * time.Millisecond}) {
		t.Errorf("%+v, %v", all, err)
	}
	for _, n := range []int{1, 3} {
		if _, err := Answers(a, n); !errors.Is(err, ErrWish) {
			t.Errorf("two answers to %d wishes: %v", n, err)
		}
	}
}

func FuzzWishes(f *testing.F) {
	f.Add(AppendWish(AppendWish(nil, Wish{Want, Addr{1}, gap}), Wish{Free, Addr{2}, time.Hour}))
	f.Add(AppendAnswer(AppendAnswer(nil, Answer{true, true, 0, time.Second}), Answer{}))
	f.Add([]byte("W0123456789abcdef\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		for w, err := range Wishes(b) {
			if err != nil {
				if !errors.Is(err, ErrWish) {
					t.Error(err)
				}
				again = nil
				break
			}
			if w.For < 0 || w.For > longest {
				t.Errorf("a time of %v", w.For)
			}
			again = AppendWish(again, w)
		}
		if len(again) > len(b) || len(again) == len(b) && !bytes.Equal(again, b) {
			t.Errorf("%x was read as %x", b, again)
		}
		if all, err := Answers(b, 2); err == nil && len(all) != 2 {
			t.Errorf("%d answers", len(all))
		}
	})
}
