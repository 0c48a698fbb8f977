package urlx

import "testing"

func TestResolveAgainstABase(t *testing.T) {
	got, err := Resolve(nil, []byte("http://example.com/a/b?c"), []byte(" ../x y#f\n"))
	if err != nil || string(got) != "http://example.com/x%20y" {
		t.Fatalf("got %q, %v", got, err)
	}
	site, path := Split([]byte("https://[::1]:8080/p?q"))
	if string(site) != "https://[::1]:8080" || string(path) != "/p?q" || string(Host(site)) != "::1" || Port(site) != 8080 {
		t.Fatalf("split: %q %q %q %d", site, path, Host(site), Port(site))
	}
}
