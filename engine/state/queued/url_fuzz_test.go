package queued

import (
	"bytes"
	"testing"
)

func FuzzItem(f *testing.F) {
	f.Add(Append(nil, &URL{Sitemap: true, ListedByIndex: true, Depth: 1, Rest: []byte("/sitemap.xml")}))
	f.Add(Append(nil, &URL{Seed: true, Depth: 3, Redirects: 2, Tries: 1, Rest: []byte("/x")}))
	f.Add(Append(nil, &URL{RobotsOf: []byte("http://a.test"), Redirects: 1, Rest: []byte("/robots.txt")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		it, ok := Decode(b)
		if !ok {
			return
		}
		again, ok := Decode(Append(nil, &it))
		if !ok || again.Depth != it.Depth || again.Redirects != it.Redirects || again.Tries != it.Tries ||
			again.Seed != it.Seed ||
			!bytes.Equal(again.Rest, it.Rest) || !bytes.Equal(again.RobotsOf, it.RobotsOf) {
			t.Errorf("%+v came back as %+v", it, again)
		}
	})
}
