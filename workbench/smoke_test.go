package workbench

import (
	"bytes"
	"net/netip"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	w := New[int](Options{})
	now := time.Now()
	vs, _ := w.GetOrAdd([]byte("http://a"))
	for _, p := range []string{"/1", "/2", "/3", "/4", "/5"} {
		w.Push(vs, []byte(p))
	}
	w.Place(vs, netip.MustParseAddr("10.0.0.1"), now)
	v := w.Acquire(now, nil, 10)
	if len(v) != 1 || string(v[0].Items[0]) != "/1" || len(v[0].Items) != 4 {
		t.Fatalf("%v", v)
	}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	w.Release(&v[0], Release{Unused: v[0].Items[1:], SiteDue: now.Add(time.Second), IPDue: now.Add(2 * time.Second)}, now)
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := w.Save(&b, func(d []byte, s *int) []byte { return append(d, byte(*s)) }); err != nil {
		t.Fatal(err)
	}
	w2, err := Load(&b, Options{}, func(b []byte) (int, error) { return int(b[0]), nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := w2.Check(); err != nil {
		t.Fatal(err)
	}
	if d, ok := w2.NextDue(); !ok || d.Sub(now.Add(2*time.Second)).Abs() > time.Millisecond {
		t.Fatal(d, ok)
	}
	if v := w2.Acquire(now.Add(3*time.Second), nil, 1); string(v[0].Items[0]) != "/2" {
		t.Fatal(v)
	}
}
