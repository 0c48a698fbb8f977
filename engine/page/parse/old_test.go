package parse

import (
	"strings"
	"testing"
)

// Pages of the older web name files in places that browsers have forgotten.
func TestLinksOfOldPages(t *testing.T) {
	for body, want := range map[string]string{
		`<!--[if IE]><link rel=stylesheet href=a><![endif]--><a href=b>`:            "resource:a anchor:b",
		`<!--[if lt IE 9]><script src=a></script><![endif]-->`:                      "script:a",
		`<!--[if !IE]><!--><img src=a><!--<![endif]--><!--[if !IE]> --><img src=b>`: "image:a image:b",
		`<!-- [if IE]><a href=no> --><!--[if IE <a href=no>-->`:                     "",
		`<!--[if IE]><base href=no/><meta name=robots content=nofollow><title>x</title><svg>` +
			`<![endif]--><a href=a>`: "anchor:a",
		`<!--[if IE]><!--[if IE]><a href=no><![endif]-->`:                                                    "",
		`<object classid="clsid:1"><param name=Movie value="a.swf"><param name=quality value=high></object>`: "object:a.swf",
		`<object><param name="src" value="a/b"><param name=src value="a text">` +
			`<param name=url value=javascript:x></object>`: "object:a/b",
		`<object codebase=/x/ data=y></object>`:                                                "object:y object:/x/y",
		`<object codebase="http://plugin.example/a.cab#version=6" classid="clsid:1"></object>`: "",
		`<applet codebase=/x code=A.class></applet><applet code="a.b.C"></applet>`: "" +
			"object:/x/A.class object:a/b/C.class",
		`<applet codebase="x/" archive="a.jar, b.jar" code=A></applet>`: "object:x/a.jar object:x/b.jar",
		`<bgsound src=a.mid><img lowsrc=b dynsrc=c.avi src=d>`:          "media:a.mid image:d image:b media:c.avi",
		`<frameset><frame src=a longdesc=b.html><noframes><a href=c>y</a></noframes>` +
			`</frameset>`: "frame:a link:b.html anchor:c",
		`<layer src=a background=b></layer><ilayer src=c></ilayer>`:                  "frame:a background:b frame:c",
		`<html manifest=a.appcache><img longdesc="a text" src=b>`:                    "resource:a.appcache image:b",
		`<blockquote cite=/no></blockquote><q cite="Smith, p. 3"></q><ins cite=/no>`: "",
		`<noembed><img src=a></noembed><amp-iframe src=b data-src=c/d></amp-iframe>`: "image:a iframe:b iframe:c/d",
	} {
		if got := linksWith(t, Options{}, body, "text/html"); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	res, err := NewScanner(Options{Text: true}).Scan([]byte("<p>a<!--[if IE]><title>no</title>no<![endif]--><noframes>no"+
		"</noframes>b<meta name=robots content=index>"), []byte("text/html"))
	if err != nil || strings.Contains(string(res.Text), "no") || res.Title != nil {
		t.Errorf("%q, %q: what no browser shows is text (%v)", res.Text, res.Title, err)
	}
	many := "<applet archive='" + strings.Repeat("a.jar,", 1000) + "'>"
	if n := strings.Count(linksWith(t, Options{}, many, "text/html"), "object:"); n != archivesMost {
		t.Errorf("%d archives of an applet, want %d", n, archivesMost)
	}
}
