package urlx

import (
	"strings"
	"testing"

	"orbweaver/internal/cputime"
)

// resolvesTo holds references of the page http://h.test/d/p?q against what they become, "" for no URL.
func resolvesTo(t *testing.T, base string, table map[string]string) {
	t.Helper()
	for ref, want := range table {
		got, err := Resolve(nil, []byte(base), []byte(ref))
		if err != nil {
			got = nil
		} else {
			checkNormal(t, ref, got)
		}
		if string(got) != want {
			t.Errorf("%.80q becomes %.80q, want %.80q (%v)", ref, got, want, err)
		}
	}
}

const hostilePage = "http://h.test/d/p?q"

// Names are mapped by UTS 46 as the URL standard has it: without regard to what browsers only show, as mixed scripts.
// ASCII labels that begin with xn-- are taken as they are, as in the current standard; others with odd characters are
// refused.
func TestHostile_U02_namesAreMappedByTheStandard(t *testing.T) {
	resolvesTo(t, hostilePage, map[string]string{
		"http://B\u00dcCHER.test/":              "http://xn--bcher-kva.test/",
		"http://bu\u0308cher.test/":             "http://xn--bcher-kva.test/",
		"http://fa\u00df.test/":                 "http://xn--fa-hia.test/",
		"http://FA\u1e9e.test/":                 "http://xn--fa-hia.test/",
		"http://\u043f\u0430ypal.test/":         "http://xn--ypal-43d3g.test/",
		"http://a\u00adb\u200bc.test/":          "http://abc.test/",
		"http://a\u3002b\uff0ec\uff61test":      "http://a.b.c.test/",
		"http://\uff45\uff58\uff11.test/":       "http://ex1.test/",
		"http://a\u200db.test/":                 "",
		"http://\u0915\u094d\u200d\u0937.test/": "http://xn--11b2ezcw70k.test/",
		"http://xn--bcher-kva.test/":            "http://xn--bcher-kva.test/",
		"http://XN--BCHER-KVA.test/":            "http://xn--bcher-kva.test/",
		"http://xn--a.test/":                    "http://xn--a.test/",
		"http://xn--\u00fc.test/":               "",
		"http://\u202eh.test/":                  "",
		"http://a_b.test/":                      "http://a_b.test/",
		"http://-a-.test/":                      "http://-a-.test/",
		"http://a..b.test/":                     "http://a..b.test/",
		"http://%62%C3%BC%2etest/":              "http://xn--b-eha.test/",
		"http://%C3.test/":                      "",
		"http://a%00b.test/":                    "",
		"http://a%2fb.test/":                    "",
		"http://a%40b.test/":                    "",
		"http://\u2100.test/":                   "", // a/c, if it were mapped
	})
}

// Dot segments are resolved in both spellings; all other escapes stay as written, valid or not. Nothing is decoded
// twice, and slashes are not merged.
func TestHostile_U03_pathsAreResolvedAndNotDecoded(t *testing.T) {
	resolvesTo(t, hostilePage, map[string]string{
		"../../../x": "http://h.test/x", "/a/./b/../c": "http://h.test/a/c", "/a/%2e%2e/b": "http://h.test/b",
		"/a/.%2E/b": "http://h.test/b", "/a/%2e/b": "http://h.test/a/b",
		"/..": "http://h.test/", "/a/..": "http://h.test/", "/a/b/..": "http://h.test/a/",
		"/a/...": "http://h.test/a/...", "/a/%2e%2e%2e": "http://h.test/a/%2e%2e%2e",
		"/a//b": "http://h.test/a//b", "/a//../b": "http://h.test/a/b", "//": "", "/%00": "http://h.test/%00",
		"/%zz%": "http://h.test/%zz%", "/%a%1": "http://h.test/%a%1",
		"/%2F%2f": "http://h.test/%2F%2f", "/%252e%252e/x": "http://h.test/%252e%252e/x", "/%41": "http://h.test/%41",
		"/%c3%A9": "http://h.test/%c3%A9",
		"/\u00e9": "http://h.test/%C3%A9", "/\xe9": "http://h.test/%E9", "/a;/../b": "http://h.test/b",
		"/a/..;/b": "http://h.test/a/..;/b",
		"/?/../x":  "http://h.test/?/../x", "/{}|^`\"<>": "http://h.test/%7B%7D|%5E%60%22%3C%3E",
		"/?{}|^`\"<>'": "http://h.test/?{}|^`%22%3C%3E%27",
	})
}

// No normal form contains a user or password, however they are written.
func TestHostile_U04_noNormalFormHasAUser(t *testing.T) {
	for ref, names := range map[string]bool{
		"http://user:pw@h.test/": true, "http://user@h.test/": true, "http://@h.test/": true, "http://:@h.test/": true,
		"//u:p@h.test": true, "\\\\u:p@h.test": true,
		"http://a@b@c:d@h.test/": true, "http://u%40:p%3a@h.test/": true, " \thttps://u:p@h.test/": true,
		"http:\\/u@h.test/": true, "http:///u@h.test/": true,
		"http://h.test/@u": false, "http://h.test?@u": false, "http://h.test#@u": false, "/a@b": false,
		"u@h.test": false, "?a@b": false, "http://h.test/": false, "": false,
	} {
		got, err := Resolve(nil, []byte(hostilePage), []byte(ref))
		if site, _ := Split(got); err != nil || strings.Contains(string(site), "@") ||
			names && !strings.HasSuffix(string(site), "://h.test") {
			t.Errorf("%q becomes %q (%v)", ref, got, err)
		}
		if HasUserinfo([]byte(ref)) != names {
			t.Errorf("%q: it names a user: %v, want %v", ref, !names, names)
		}
	}
	if _, err := Normalize(nil, []byte("http://user:pw@/")); err != ErrHost {
		t.Errorf("a user without a host: %v", err)
	}
}

// Port 0 is valid by the standard; the list of allowed ports refuses it before a connection is made.
func TestHostile_U05_portsAreNumbersAndDefaultOnesAreLeftOut(t *testing.T) {
	resolvesTo(t, hostilePage, map[string]string{
		"http://h.test:80/": "http://h.test/", "https://h.test:443/": "https://h.test/",
		"http://h.test:443/": "http://h.test:443/", "https://h.test:80/": "https://h.test:80/",
		"http://h.test:080/": "http://h.test/", "http://h.test:0000000000000000081/": "http://h.test:81/",
		"http://h.test:/": "http://h.test/", "http://h.test:65535/": "http://h.test:65535/",
		"http://h.test:0/": "http://h.test:0/", "http://h.test:65536/": "", "http://h.test:99999999999999999999/": "",
		"http://h.test:-1/": "", "http://h.test:+80/": "",
		"http://h.test:8a/": "", "http://h.test:80:80/": "", "http://h.test:%380/": "", "http://:80/": "",
		"http://h.test: 80/": "", "http://h.test:8\t0/": "http://h.test/",
	})
}

// URLs that differ in the fragment only have one normal form, also with #!. An empty query is kept.
func TestHostile_U06_fragmentsNameNoOtherPage(t *testing.T) {
	resolvesTo(t, hostilePage, map[string]string{
		"#": hostilePage, "#x": hostilePage, "#!/x": hostilePage, "": hostilePage, "/x#y?z": "http://h.test/x",
		"/x?y#z": "http://h.test/x?y", "/x?#": "http://h.test/x?",
		"?": "http://h.test/d/p?", "?#": "http://h.test/d/p?", "?a?b": "http://h.test/d/p?a?b",
		"x?": "http://h.test/d/x?", "http://h.test?": "http://h.test/?", "http://h.test#x": "http://h.test/",
		"?a=1&amp;b": "http://h.test/d/p?a=1&amp;b", "?%23": "http://h.test/d/p?%23",
	})
}

// Backslashes are slashes outside the query; tabs and line ends vanish wherever they stand, and so do control
// characters and spaces at both ends. Others within are encoded, or make the host none.
func TestHostile_U07_whatNobodyShouldWriteIsReadAsBrowsersDo(t *testing.T) {
	resolvesTo(t, hostilePage, map[string]string{
		"\\x\\..\\y": "http://h.test/y", "http:\\\\h.test\\x?\\y": "http://h.test/x?\\y",
		"\\\\o.test": "http://o.test/", "/\\o.test/": "http://o.test/", "http:/x": "http://h.test/x",
		"http:x": "http://h.test/d/x", "https:x": "https://x/", "https:/x": "https://x/",
		"http:////h.test/": "http://h.test/", "ht\ntp://h.test/": "http://h.test/",
		"http://h\r\n.te\tst/a\nb?c\td": "http://h.test/ab?cd", "\x00\x1f /x \x00": "http://h.test/x",
		"/a b": "http://h.test/a%20b", "/a\x00b\x7f": "http://h.test/a%00b%7F",
		"http://h test/": "", "http://h\x00.test/": "", "java\nscript:x": "", "\x01javascript:x": "",
		"http://h.test\x00/": "", "/\u2028": "http://h.test/%E2%80%A8",
		"/x\r\nHost: evil": "http://h.test/xHost:%20evil", "/%0d%0aHost:%20evil": "http://h.test/%0d%0aHost:%20evil",
	})
}

// Each address has one normal form, so that rules for addresses do not depend on the spelling.
func TestHostile_U08_addressesHaveOneSpelling(t *testing.T) {
	resolvesTo(t, hostilePage, map[string]string{
		"http://127.1/": "http://127.0.0.1/", "http://0x7f.1/": "http://127.0.0.1/",
		"http://017700000001/": "http://127.0.0.1/", "http://2130706433/": "http://127.0.0.1/",
		"http://127.0.0.1./": "http://127.0.0.1/", "http://0X7F.0.0.0x1/": "http://127.0.0.1/",
		"http://\uff11\uff12\uff17.1/": "http://127.0.0.1/", "http://%31%32%37.1/": "http://127.0.0.1/",
		"http://0/": "http://0.0.0.0/", "http://0x/": "http://0.0.0.0/", "http://1.2.3.08/": "",
		"http://256.1.1.1/": "", "http://4294967296/": "", "http://1.2.3.4.5/": "",
		"http://1.2.3.4.test/": "http://1.2.3.4.test/", "http://a.1/": "", "http://[::1]/": "http://[::1]/",
		"http://[0:0::0:1]/": "http://[::1]/", "http://[::127.0.0.1]/": "http://[::7f00:1]/",
		"http://[::FFFF:10.0.0.1]/": "http://[::ffff:a00:1]/", "http://[fe80::1%25eth0]/": "",
		"http://[fe80::1%eth0]/": "", "http://[::1/": "", "http://::1/": "", "http://[]/": "",
		"http://[1.2.3.4]/": "", "http://[::1]x/": "", "http://[2001:DB8::]:8080/": "http://[2001:db8::]:8080/",
		"http://[::1.2.3.08]/": "",
	})
}

// A reference sixteen times as long takes sixteen times as long, whatever it repeats. The test allows 64 times.
func TestHostile_P12_U01_longReferencesTakeLinearTime(t *testing.T) {
	for _, unit := range []string{"a", "aaaa.", "a@", "%61", "\u00e9", "../", "a/", "&a=a", "xn--", "0x", "1.", "[",
		":", "\t", "#", "?"} {
		for _, lead := range []string{"", "/", "http://", "http://h.test/?", "//h.test:", "a"} {
			work := func(size int) func() {
				ref := []byte(lead + strings.Repeat(unit, size/len(unit)))
				return func() {
					for range 20 {
						if url, err := Resolve(nil, []byte(hostilePage), ref); err == nil {
							SURT(nil, url)
						}
						HasUserinfo(ref)
					}
				}
			}
			if grows := cputime.Growth(10, 64, work(16<<10), work(1<<10)); grows > 64 {
				t.Errorf("%q after %q: 16 KiB cost %.1f times as much as 1 KiB", unit, lead, grows)
			}
		}
	}
	if _, err := Normalize(nil, []byte("http://h.test/"+strings.Repeat("a", 64<<10))); err != ErrTooLong {
		t.Errorf("64 KiB: %v", err)
	}
}
