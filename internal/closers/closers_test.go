package closers

import (
	"errors"
	"testing"
)

func TestList_closesTheLastFirstOnceAndTellsAllErrors(t *testing.T) {
	var l List
	order := ""
	first, second := errors.New("first"), errors.New("second")
	l.Add(func() error { order += "1"; return first })
	l.Add(func() error { order += "2"; return second })
	if err := l.Close(); !errors.Is(err, first) || !errors.Is(err, second) || order != "21" {
		t.Errorf("%v, order %q", err, order)
	}
	if err := l.Close(); err != nil || order != "21" {
		t.Errorf("the second Close: %v, order %q", err, order)
	}
}
