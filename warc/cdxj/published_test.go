package cdxj

import "testing"

// published is an address, and what the tests of another program state of it.
type published struct{ uri, want string }

// publishedKeys are keys that the tests of other programs state: packages surt (its test_surt.py) and urlcanon of
// Python, pywb and cdxj-indexer.
func publishedKeys() []published {
	return []published{
		// surt
		{"filedesc:foo.arc.gz", "filedesc:foo.arc.gz"},
		{"filedesc:/foo.arc.gz", "filedesc:/foo.arc.gz"},
		{"filedesc://foo.arc.gz", "filedesc://foo.arc.gz"},
		{"warcinfo:foo.warc.gz", "warcinfo:foo.warc.gz"},
		{"dns:alexa.com", "dns:alexa.com"},
		{"dns:archive.org", "dns:archive.org"},
		{"mailto:foo@example.com", "mailto:foo@example.com"},
		{"http://www.archive.org/", "org,archive)/"},
		{"http://archive.org/", "org,archive)/"},
		{"http://archive.org/goo/", "org,archive)/goo"},
		{"http://archive.org/goo/?", "org,archive)/goo"},
		{"http://archive.org/goo/?b&a", "org,archive)/goo?a&b"},
		{"http://archive.org/goo/?a=2&b&a=1", "org,archive)/goo?a=1&a=2&b"},
		{"http://archive.org/index.php?PHPSESSID=0123456789abcdefghijklemopqrstuv&action=profile;u=4221",
			"org,archive)/index.php?action=profile;u=4221"},
		{"whois://whois.isoc.org.il/shaveh.co.il", "il,org,isoc,whois)/shaveh.co.il"},
		{"http://visit.webhosting.yahoo.com/visit.gif?&r=http%3A//web.archive.org/web/20090517140029/" +
			"http%3A//anthonystewarthead.electric-chi.com/&b=Netscape%205.0%20%28Windows%3B%20en-US%29&s=1366x768&o=Win32" +
			"&c=24&j=true&v=1.2",
			"com,yahoo,webhosting,visit)/visit.gif?&b=netscape%205.0%20(windows;%20en-us)&c=24&j=true&o=win32" +
				"&r=http://web.archive.org/web/20090517140029/http://anthonystewarthead.electric-chi.com/&s=1366x768&v=1.2"},
		{"ftp://www.example.com/", "com,example)/"},
		{"https://www.example.com/", "com,example)/"},
		{"http://example.com/app?item=Wroc%C5%82aw", "com,example)/app?item=wroc%c5%82aw"},
		{"http://192.168.1.254/info/", "254,1,168,192)/info"},
		{"http://example.com/foo?X=Y", "com,example)/foo?x=y"},
		{"http://www.archive.org:80/", "org,archive)/"},
		{"https://www.archive.org:80/", "org,archive:80)/"},
		{"http://www.archive.org:443/", "org,archive:443)/"},
		{"https://www.archive.org:443/", "org,archive)/"},
		{"http://www.archive.org/big/", "org,archive)/big"},
		{"http://www34.archive.org/index.html?b=a&b=b&a=b", "org,archive)/index.html?a=b&b=a&b=b"},
		{"http://www2foo.com/", "com,www2foo)/"},
		{"http://www2.www2foo.com/", "com,www2foo)/"},
		{"http://123.123.net/", "net,123,123)/"},
		{"http://100.100.100.100.org/", "org,100,100,100,100)/"},
		{"http://mineral.galleries.com:/minerals/silicate/chabazit/chabazit.htm",
			"com,galleries,mineral)/minerals/silicate/chabazit/chabazit.htm"},
		// session identifiers of surt
		{"http://h/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx", "h)/mileg.aspx"},
		{"http://h/(4hqa0555fwsecu455xqckv45)/mileg.aspx", "h)/mileg.aspx"},
		{"http://h/(a(4hqa0555fwsecu455xqckv45)S(4hqa0555fwsecu455xqckv45)f(4hqa0555fwsecu455xqckv45))/mileg.aspx" +
			"?page=sessionschedules", "h)/mileg.aspx?page=sessionschedules"},
		{"http://h/photos/36050182@N05/", "h)/photos/36050182@n05"},
		{"http://h/?jsessionid=0123456789abcdefghijklemopqrstuv", "h)/"},
		{"http://h/?jsessionid=0123456789abcdefghijklemopqrstuv0", "h)/?jsessionid=0123456789abcdefghijklemopqrstuv0"},
		{"http://h/?jsessionid=0123456789abcdefghijklemopqrstuv&x=y", "h)/?x=y"},
		{"http://h/?one=two&jsessionid=0123456789abcdefghijklemopqrstuv&x=y", "h)/?one=two&x=y"},
		{"http://h/?aspsessionidABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&x=y", "h)/?x=y"},
		{"http://h/?phpsessid=0123456789abcdefghijklemopqrstuv&x=y", "h)/?x=y"},
		{"http://h/?one=two&phpsessid=0123456789abcdefghijklemopqrstuv&x=y", "h)/?one=two&x=y"},
		{"http://h/?sid=9682993c8daa2c5497996114facdc805&x=y", "h)/?x=y"},
		{"http://h/?sid=9682993c8daa2c5497996114facdc805&jsessionid=0123456789abcdefghijklemopqrstuv", "h)/"},
		{"http://h/?CFID=12412453&CFTOKEN=15501799&dt=19_08_2006_22_39_28", "h)/?dt=19_08_2006_22_39_28"},
		{"http://h/?CFID=14475712&CFTOKEN=2D89F5AF-3048-2957-DA4EE4B6B13661AB&r=468710288378&m=forgotten",
			"h)/?m=forgotten&r=468710288378"},
		{"http://h/?CFID=16603925&CFTOKEN=2AE13EEE-3048-85B0-56CEDAAB0ACA44B8", "h)/"},
		// pywb
		{"http://example.com/path/file.html", "com,example)/path/file.html"},
		{"urn:some:id", "urn:some:id"},
		{"http://example.com?example=1", "com,example)/?example=1"},
		{"http://test@example.com/", "com,example)/"},
		{"http://iana.org", "org,iana)/"},
		{"http://www.iana.org/domains/root/db/", "org,iana)/domains/root/db"},
		{"http://www.iana.org/_css/2013.1/fonts/OpenSans-Bold.ttf", "org,iana)/_css/2013.1/fonts/opensans-bold.ttf"},
		{"http://example.com/\u00c3\u00a9", "com,example)/%c3%83%c2%a9"},
		{"metadata://gnu.org/software/wget/warc/MANIFEST.txt", "org,gnu)/software/wget/warc/manifest.txt"},
		{"https://example.com/ajax/bz?foo=bar&__wb_method=POST&q=[{\"webSessionId\":\"pb2tr7:vx83uz:fdi8ta\",\"user\":\"0\"}]",
			"com,example)/ajax/bz?__wb_method=post&foo=bar&q=[{\"websessionid\":\"pb2tr7:vx83uz:fdi8ta\",\"user\":\"0\"}]"},
		// cdxj-indexer
		{"https://img1.zoubanio.com/icon/u3927203-87.jpg", "com,zoubanio,img1)/icon/u3927203-87.jpg"},
		{"http://httpbin.org/post?__wb_method=POST&A=1&B=[]&C=3", "org,httpbin)/post?__wb_method=post&a=1&b=[]&c=3"},
		{"http://httpbin.org/post?foo=bar&__wb_method=POST&data=^", "org,httpbin)/post?__wb_method=post&data=^&foo=bar"},
		{"https://httpbin.org/post?__wb_method=POST&test=some+data&another=more^data",
			"org,httpbin)/post?__wb_method=post&another=more^data&test=some+data"},
	}
}

// publishedForms are addresses that package surt brings into the same form, so that they have the same key.
func publishedForms() []published {
	return []published{
		{"http://host/%25%32%35", "http://host/%25"},
		{"http://host/%25%32%35%25%32%35", "http://host/%25%25"},
		{"http://host/%2525252525252525", "http://host/%25"},
		{"http://host/asdf%25%32%35asd", "http://host/asdf%25asd"},
		{"http://host/%%%25%32%35asd%%", "http://host/%25%25%25asd%25%25"},
		{"http://%31%36%38%2e%31%38%38%2e%39%39%2e%32%36/%2E%73%65%63%75%72%65/%77%77%77%2E%65%62%61%79%2E%63%6F%6D/",
			"http://168.188.99.26/.secure/www.ebay.com/"},
		{"http://195.127.0.11/uploads/%20%20%20%20/.verify/.eBaysecure=updateuserdataxplimnbqmn-xplmvalidateinfoswqpcmlx=hgplmcx/",
			"http://195.127.0.11/uploads/%20%20%20%20/.verify/.ebaysecure=updateuserdataxplimnbqmn-xplmvalidateinfoswqpcmlx=hgplmcx/"},
		{"http://host.com/%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B",
			"http://host.com/~a!b@c%23d$e%25f^00&11*22(33)44_55+"},
		{"http://3279880203/blah", "http://195.127.0.11/blah"},
		{"http://017.0.0.1/", "http://15.0.0.1/"},
		{"http://10.0.258/", "http://10.0.1.2/"},
		{"http://www.google.com/blah/..", "http://www.google.com/"},
		{"http://www.evil.com/blah#frag", "http://www.evil.com/blah"},
		{"http://evil.com/foo#bar#baz", "http://evil.com/foo"},
		{"http://www.GOOgle.com/", "http://www.google.com/"},
		{"http://www.google.com.../", "http://www.google.com/"},
		{"http://www.google.com/foo\tbar\rbaz\n2", "http://www.google.com/foobarbaz2"},
		{"http://www.google.com/q?r?s", "http://www.google.com/q?r?s"},
		{"http://evil.com/foo;", "http://evil.com/foo;"},
		{"http://evil.com/foo?bar;", "http://evil.com/foo?bar;"},
		{"http://B\u00fccher.ch:8080", "http://xn--bcher-kva.ch:8080/"},
		{"http://\u2603.com", "http://xn--n3h.com/"},
		{"http://notrailingslash.com", "http://notrailingslash.com/"},
		{"  http://www.google.com/  ", "http://www.google.com/"},
		{"http://host.com/ab%23cd", "http://host.com/ab%23cd"},
		{"http://host.com//twoslashes?more//slashes", "http://host.com/twoslashes?more//slashes"},
		{"http:////////////////www.vikings.com", "http://www.vikings.com/"},
		{"http://www.archive.org:8080?#foo", "http://www.archive.org:8080/"},
	}
}

// The keys of index lines are those that the tests of other programs state.
func TestAppendKey_ofPublishedTests(t *testing.T) {
	key := func(uri string) string { return string(cleanKey(AppendKey(nil, []byte(uri)), 0)) }
	for _, c := range publishedKeys() {
		if got := key(c.uri); got != c.want {
			t.Errorf("%s: %s, want %s", c.uri, got, c.want)
		}
	}
	for _, c := range publishedForms() {
		if got, want := key(c.uri), key(c.want); got != want {
			t.Errorf("%q: %s, want %s", c.uri, got, want)
		}
	}
}
