package parse

import "testing"

// The parts of videos and sounds are page requisites, whatever the list of them is called.
func TestPlaylistsNameThePartsOfVideos(t *testing.T) {
	const hls = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow/index.m3u8\n"
	const dash = `<?xml version="1.0"?><MPD mediaPresentationDuration="PT4S"><Period><AdaptationSet><SegmentTemplate ` +
		`media="$RepresentationID$/$Number$.m4s" duration="2" initialization="i.mp4"/><Representation id="v1"/>` +
		`</AdaptationSet></Period></MPD>`
	const parts = "media:i.mp4 media:v1/1.m4s media:v1/2.m4s"
	for _, c := range []struct{ media, body, want string }{
		{"application/vnd.apple.mpegurl", hls, "media:low/index.m3u8"}, {"text/plain", hls, "media:low/index.m3u8"},
		{"", "\xEF\xBB\xBF" + hls, "media:low/index.m3u8"}, {"application/octet-stream", hls, "media:low/index.m3u8"},
		{"audio/x-mpegurl", "# stations\r\nhttp://a.example/radio\r\n/b.mp3\r\n", "link:http://a.example/radio link:/b.mp3"},
		{"audio/x-mpegurl", "\x00\x01\x02http://a.example/", ""}, {"video/mp4", "x", ""},
		{"application/dash+xml", dash, parts}, {"text/xml", dash, parts},
		{"application/xml", `<doc>MPD<a href="b"/></doc>`, "anchor:b"},
	} {
		if got := linksWith(t, Options{}, c.body, c.media); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.media, c.body, got, c.want)
		}
	}
}

// References of a manifest and of a feed in JSON are relative to the file. They count without speculation.
func TestManifestsAndFeedsInJSON(t *testing.T) {
	const manifest = `{"name":"x","start_url":"./?pwa","icons":[{"src":"i.png"},{"src":"\/j.png","sizes":"1x1"}],` +
		`"shortcuts":[{"url":"new","icons":[{"src":"n.svg"}]}],"display":"standalone"}`
	const taken = "link:./?pwa image:i.png image:/j.png link:new image:n.svg"
	const feed = `{"version":"https://jsonfeed.org/version/1.1","home_page_url":"/","items":[{"url":"p/1",` +
		`"content_html":"<a href=\"q\">x</a><img src=i.jpg>","image":"t.jpg","attachments":[{"url":"a.mp3"}]}],` +
		`"next_url":"2"}`
	const entries = "feed:/ feed:p/1 anchor:q image:i.jpg image:t.jpg media:a.mp3 feed:2"
	for _, c := range []struct{ media, body, want string }{
		{"application/manifest+json", manifest, taken}, {"application/json; charset=utf-8", manifest, taken},
		{"application/feed+json", feed, entries}, {"application/json", feed, entries},
		{"application/json", `{"icons":"x","src":"y"}`, ""}, {"text/javascript", manifest, ""},
	} {
		if got := linksWith(t, Options{}, c.body, c.media); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.media, c.body, got, c.want)
		}
	}
	for _, media := range []string{
		"application/hal+json", "application/vnd.api+json", "application/activity+json", "text/x-json", "text/json",
		"application/geo+json; charset=utf-8", "text/ecmascript", "application/x-ndjson",
	} {
		got := linksWith(t, Options{Speculative: true}, `{"href":"http://a.example/x"}`, media)
		if got != "speculative:http://a.example/x" {
			t.Errorf("%s: %q", media, got)
		}
	}
}
