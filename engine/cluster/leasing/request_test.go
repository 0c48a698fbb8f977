package leasing

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

func TestRequestsAndResponses_roundTrip(t *testing.T) {
	want := []Request{
		{Acquire, Addr{1, 2, 15: 3}, 500 * time.Millisecond}, {Renew, Addr{}, 0}, {Release, Addr{9}, time.Minute},
	}
	var b []byte
	for _, r := range want {
		b = AppendRequest(b, r)
	}
	i := 0
	for r, err := range Requests(b) {
		if err != nil || r != want[i] {
			t.Errorf("request %d: %+v, %v", i, r, err)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d of %d requests", i, len(want))
	}
	b = AppendResponse(nil, Response{
		Granted: true, Shared: true, StartsIn: 100 * time.Microsecond, EndsIn: 2900 * time.Microsecond,
	})
	b = AppendResponse(b, Response{RetryIn: 1100 * time.Microsecond})
	responses, err := ParseResponses(b, 2)
	if err != nil ||
		responses[0] != (Response{Granted: true, Shared: true, StartsIn: time.Millisecond, EndsIn: 2 * time.Millisecond}) ||
		responses[1] != (Response{RetryIn: 2 * time.Millisecond}) {
		t.Errorf("%+v, %v", responses, err)
	}
	for _, n := range []int{1, 3} {
		if _, err := ParseResponses(b, n); !errors.Is(err, ErrMalformed) {
			t.Errorf("2 responses for %d requests: %v", n, err)
		}
	}
}

func FuzzRequests(f *testing.F) {
	f.Add(AppendRequest(AppendRequest(nil, Request{Acquire, Addr{1}, delay}), Request{Release, Addr{2}, time.Hour}))
	f.Add(AppendResponse(AppendResponse(nil, Response{Granted: true, Shared: true, EndsIn: time.Second}), Response{}))
	f.Add([]byte("W0123456789abcdef\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		for r, err := range Requests(b) {
			if err != nil {
				if !errors.Is(err, ErrMalformed) {
					t.Error(err)
				}
				again = nil
				break
			}
			if r.Delay < 0 || r.Delay > maxDuration {
				t.Errorf("a delay of %v", r.Delay)
			}
			again = AppendRequest(again, r)
		}
		if len(again) > len(b) || len(again) == len(b) && !bytes.Equal(again, b) {
			t.Errorf("%x was parsed and is written as %x", b, again)
		}
		if responses, err := ParseResponses(b, 2); err == nil && len(responses) != 2 {
			t.Errorf("%d responses", len(responses))
		}
	})
}
