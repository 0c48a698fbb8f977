package cookie

import (
	"fmt"
	"slices"
	"testing"
)

// The cost of a page of a site with some cookies, among many such sites: the Cookie field, and one Set-Cookie field.
func BenchmarkPage(b *testing.B) {
	const sites = 20_000
	v := newVisitor(64 << 20)
	urls := make([][]byte, sites)
	for i := range urls {
		url := fmt.Sprintf("http://www.host%d.example/dir/page?x=1", i)
		v.hears(url, "session=0123456789abcdef0123456789abcdef; Path=/", "lang=en; Path=/; Max-Age=86400", "ab=7")
		urls[i] = []byte(url)
	}
	field := slices.Values([][]byte{[]byte("session=0123456789abcdef0123456789abcdef; Path=/; HttpOnly; SameSite=Lax")})
	var dst []byte
	b.Run("request", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			dst = v.jars.Append(dst[:0], urls[i%sites], v.now)
		}
		if len(dst) == 0 {
			b.Fatal("no cookies")
		}
	})
	b.Run("answer", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			v.jars.Take(urls[i%sites], field, v.now)
		}
	})
}
