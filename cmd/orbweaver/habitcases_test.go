package main

import (
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // digests of payloads
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"orbweaver/internal/cli/command"
)

// habits are the cases of all rows, and of habits that change nothing for a reader.
func habits() []habit {
	return slices.Concat(bodyHabits(), recordHabits(), referenceHabits(), addressHabits(), indexHabits(),
		fileHabits(), packageHabits())
}

// bodyHabits are those of HTTP heads and bodies.
func bodyHabits() []habit {
	zipped := gzipMembers("<title>t</title><p>kept words")
	return []habit{
		{row: "Transfer-Encoding: chunked, and a body without", tries: onePage("kept words"),
			files: one(foreignPage("kept words", "Transfer-Encoding: chunked"))},
		{row: "Content-Encoding that the body lacks", tries: onePage("kept words"),
			files: one(foreignPage("kept words", "Content-Encoding: gzip"))},
		{row: "Content-Encoding that the body lacks", tries: onePage("kept words"),
			files: one(foreignPage("kept words", "Content-Encoding: utf-8"))},
		{row: "Content-Encoding that the body lacks", tries: onePage("kept words"),
			files: one("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip, gzip\r\n\r\n" + zipped)},
		{row: "fields of coding and length that are called X-Crawl-", tries: onePage("kept words"),
			files: one(foreignPage("kept words", "X-Crawl-Content-Encoding: gzip",
				"X-Crawl-Transfer-Encoding: chunked"))},
		{row: "a second empty line behind the HTTP head", tries: onePage("kept words"),
			files: one(foreignPage("kept words", "X: y", ""))},
		{row: "a status line with HTTP/2", tries: onePage("kept words"),
			files: one(strings.Replace(foreignPage("kept words"), "HTTP/1.1 200 OK", "HTTP/2 200", 1))},
		{row: "a status line with HTTP/2", tries: onePage("kept words"),
			files: one(strings.Replace(foreignPage("kept words"), "HTTP/1.1 200 OK", "HTTP/2.0 200 OK", 1))},
		{row: "a status line with HTTP/2", tries: onePage("kept words"),
			files: one(strings.Replace(foreignPage("kept words"), "HTTP/1.1 200 OK", "HTTP/3 200 ", 1))},
		{row: "HTTP heads with LF, or with a space before a colon", tries: onePage("kept words"),
			files: one("HTTP/1.1 200 OK\nContent-Type : text/html\nP3P : x\n\n<title>t</title><p>kept words")},
		{row: "text/html charset=utf-8, or a type twice", tries: onePage("kept words"),
			files: one(strings.Replace(foreignPage("kept words"), "text/html", "text/html charset=utf-8", 1))},
		{row: "text/html charset=utf-8, or a type twice", tries: onePage("kept words"),
			files: one(strings.Replace(foreignPage("kept words"), "text/html", "text/html,text/html", 1))},
		{row: "a response with an empty block", files: one(""), tries: []try{
			{words: "warc ls a.warc.gz", says: []string{"http://a.test/p"}},
			{words: "warc index a.warc.gz", says: []string{"test,a)/p 2", "!status"}},
			{words: "text a.warc.gz", says: []string{""}},
		}},
	}
}

// recordHabits are those of records.
func recordHabits() (all []habit) {
	block := foreignPage("kept words")
	sha, sum := sha256.Sum256([]byte(block)), sha1.Sum([]byte(block)) //nolint:gosec // as above
	record := func(n int, fields ...string) string {
		return foreignRecord("response", fmt.Sprintf("http://a.test/%d", n), foreignPage(fmt.Sprintf("words %d.", n)),
			fields...)
	}
	threeRead := []try{{words: "warc ls a.warc.gz", says: []string{"http://a.test/1", "http://a.test/3"}}}
	for date, stamp := range map[string]string{
		"2020-01-02T05:04:05+02:00": "20200102030405", "2020-01-02T05:04:05+0200": "20200102030405",
		"2020-01-02T03:04:05": "20200102030405", "2020-01-02 03:04:05": "20200102030405",
		"20200102030405":            "20200102030405",
		"2008-10-294T05:21:46-0700": "20081020122146",
	} {
		all = append(all, habit{
			row: "WARC-Date with an offset, without a zone", files: one(block, "WARC-Date: "+date),
			tries: append(onePage("kept words"), try{words: "warc index a.warc.gz", says: []string{"test,a)/p " +
				stamp}}),
		})
	}
	for _, digest := range []string{
		"sha1:" + hex.EncodeToString(sum[:]), "sha1:" + base64.StdEncoding.EncodeToString(sum[:]),
		"sha256:" + base32.StdEncoding.EncodeToString(sha[:]), "SHA-256:" + hex.EncodeToString(sha[:]),
		"blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262", "sha1:" + strings.ToLower(
			base32.StdEncoding.EncodeToString(sum[:])),
	} {
		all = append(all, habit{
			row: "digests in hexadecimal, base32 or base64", files: one(block, "WARC-Block-Digest: "+digest),
			tries: append(onePage("kept words"), try{words: "warc verify a.warc.gz", says: []string{"1 record"}}),
		})
	}
	bare := strings.NewReplacer("WARC-Type", "warc-type", "WARC-Date", "warc-date", "WARC-Target-URI",
		"Warc-Target-Uri",
		"Content-Length", "content-length", "<urn", "urn", ">\r\n", "\r\n").Replace(foreignRecord("response",
		"http://a.test/p", ""))
	bare = strings.Replace(bare, "content-length: 0\r\n\r\n", fmt.Sprintf("content-length:\r\n  %d\r\n\r\n%s",
		len(block), block), 1)
	return append(all,
		habit{row: "the version line in lower case", tries: onePage("kept words"), files: map[string]string{
			"a.warc.gz": gzipMembers(strings.Replace(foreignRecord("response", "http://a.test/p", block), "WARC/",
				"warc/", 1)),
		}},
		habit{row: "names of fields in lower case, folded lines", tries: onePage("kept words"),
			files: map[string]string{
				"a.warc.gz": gzipMembers(bare),
			}},
		habit{row: "LF in place of CRLF in the head of a record", tries: onePage("kept words"),
			files: map[string]string{
				"a.warc.gz": gzipMembers(strings.Replace(strings.ReplaceAll(foreignRecord("response", "http://a.test/p",
					"BLOCK",
					fmt.Sprintf("Content-Length: %d", len(block))), "\r\n", "\n"), "BLOCK", block, 1)),
			}},
		habit{row: "up to 64 bytes behind the record", files: map[string]string{
			"a.warc.gz": gzipMembers(record(1)+"\x00", record(2)+"\x00", record(3)+"\x00"),
		}, tries: append(page("a.warc.gz", "http://a.test/3", "test,a)/3", "words 3."),
			try{words: "warc verify a.warc.gz", code: command.ExitFailed, warns: "behind"})},
		habit{row: "one empty line, or none, behind a record", files: map[string]string{
			"a.warc": strings.TrimSuffix(record(1), "\r\n") + strings.TrimSuffix(record(2), "\r\n\r\n") + record(3),
			"b.warc.gz": gzipMembers(strings.TrimSuffix(record(1), "\r\n"), strings.TrimSuffix(record(2), "\r\n\r\n"),
				record(3)),
		}, tries: slices.Concat(page("a.warc", "http://a.test/3", "test,a)/3", "words 3."),
			page("b.warc.gz", "http://a.test/2", "test,a)/2", "words 2."), page("b.warc.gz", "http://a.test/3",
				"test,a)/3", "words 3."))},
		habit{row: "a Content-Length that is no number", test: "../../warc/wronglength_test.go TestReader_oneWrongRecord"},
		habit{row: "a Content-Length that is too small", files: map[string]string{
			"a.warc.gz": gzipMembers(record(1), record(2, "Content-Length: 60"), record(3), record(4,
				"Content-Length: 9000"), record(5)),
		}, tries: []try{
			{words: "warc ls a.warc.gz", says: []string{"http://a.test/1", "http://a.test/5"}, code: command.ExitFailed},
			{words: "warc get a.warc.gz http://a.test/3", says: []string{"words 3."}},
			{words: "warc get a.warc.gz http://a.test/5", says: []string{"words 5."}},
			{words: "warc index a.warc.gz", says: []string{"test,a)/1 ", "test,a)/3 ", "test,a)/5 "},
				code: command.ExitFailed, warns: "a.warc.gz at "},
			{words: "text a.warc.gz", says: []string{"words 1.", "words 3.", "words 5."}, code: command.ExitFailed},
		}},
		habit{row: "empty gzip members between records", files: map[string]string{
			"a.warc.gz": gzipMembers("", record(1), "", "", record(3), ""),
		}, tries: append(threeRead, page("a.warc.gz", "http://a.test/3", "test,a)/3", "words 3.")...)},
	)
}

// referenceHabits are those of records that belong to others.
func referenceHabits() []habit {
	block := foreignPage("kept words")
	return []habit{
		{row: "a record in several segments", files: map[string]string{"a.warc.gz": gzipMembers(
			foreignRecord("response", "http://a.test/p", block[:len(block)-20], "WARC-Segment-Number: 1"),
			foreignRecord("continuation", "http://a.test/p", block[len(block)-20:], "WARC-Segment-Number: 2"))},
			tries: append(onePage("kept"), try{words: "warc get a.warc.gz http://a.test/p", says: []string{"kept"},
				warns: "segment"})},
		{row: "revisit records with no other reference than WARC-Refers-To", tries: append(
			page("a.warc.gz", "http://a.test/again", "test,a)/again", "kept words")[:3], onePage("kept words")[3]),
			files: map[string]string{"a.warc.gz": gzipMembers(
				foreignRecord("response", "http://a.test/p", block, "WARC-Record-ID: <urn:uuid:1>",
					"WARC-Payload-Digest: sha1:"+
						payloadDigest(block)),
				foreignRecord("revisit", "http://a.test/again", block[:strings.Index(block, "<html")],
					"WARC-Refers-To: <urn:uuid:1>",
					"WARC-Date: 2020-01-02T03:04:06Z", "WARC-Truncated: length",
					"WARC-Payload-Digest: sha1:"+payloadDigest(block),
					"WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"))}},
		{row: "revisit records of answers 304 with no reference", files: map[string]string{"a.warc.gz": gzipMembers(
			foreignRecord("response", "http://a.test/p", block),
			foreignRecord("revisit", "http://a.test/p", "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
				"WARC-Date: 2021-01-02T03:04:06Z",
				"WARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified"))},
			tries: onePage("kept words")},
	}
}

// payloadDigest is the digest of what follows the HTTP head, in base32.
func payloadDigest(block string) string {
	_, body, _ := strings.Cut(block, "\r\n\r\n")
	sum := sha1.Sum([]byte(body)) //nolint:gosec // as above
	return base32.StdEncoding.EncodeToString(sum[:])
}

// addressHabits are those of target URIs.
func addressHabits() (all []habit) {
	add := func(row, written, asked, key string) {
		all = append(all, habit{row: row, files: map[string]string{
			"a.warc.gz": gzipMembers(foreignRecord("response", written, foreignPage("kept words"))),
		}, tries: []try{
			{words: "warc get a.warc.gz " + asked, says: []string{"kept words"}},
			{words: "warc ls a.warc.gz", says: []string{"response"}},
			{words: "warc index a.warc.gz", says: []string{key + " 2020"}},
		}})
		if strings.Contains(written, "http:") {
			all[len(all)-1].tries = append(all[len(all)-1].tries, try{words: "text a.warc.gz",
				says: []string{"kept words"}})
		}
	}
	const older = "target URIs with upper case"
	add(older, "HTTP://a.test/s", "http://a.test/s", "test,a)/s")
	add(older, "http://A.Test/u", "http://a.test/u", "test,a)/u")
	add(older, "http://a.test:80/p", "http://a.test/p", "test,a)/p")
	add(older, "http://me@a.test/i", "http://a.test/i", "test,a)/i")
	add(older, "http://a.test?x=1", "http://a.test/?x=1", "test,a)/?x=1")
	add(older, "http://b\u00fccher.test/b", "http://xn--bcher-kva.test/b", "test,xn--bcher-kva)/b")
	const bytes = "target URIs with bytes that are no UTF-8"
	add(bytes, "http://a.test/tag/\b\xc3\x80\xa4", "http://a.test/tag/%08%C3%80%A4", "test,a)/tag/%08%c3%80%a4")
	add(bytes, "http://a.test/a b", "http://a.test/a%20b", "test,a)/a%20b")
	const fragment = "target URIs with a fragment"
	add(fragment, "http://a.test/f#part", "http://a.test/f", "test,a)/f")
	add(fragment, "urn:text:http://a.test/A?b=2&a=1", "urn:text:http://a.test/A?b=2&a=1",
		"urn:text:http://a.test/a?a=1&b=2")
	add(fragment, "urn:pageinfo:http://a.test/", "urn:pageinfo:http://a.test/", "urn:pageinfo:http://a.test")
	add("WARC-Target-URI in angle brackets", "<http://a.test/w>", "http://a.test/w", "test,a)/w")
	const schemes = "target URIs of other schemes"
	add(schemes, "metadata://gnu.test/software/MANIFEST.txt", "metadata://gnu.test/software/MANIFEST.txt",
		"test,gnu)/software/manifest.txt")
	add(schemes, "ftp://a.test/pub/X", "ftp://a.test/pub/X", "test,a)/pub/x")
	add(schemes, "whois://whois.test/a.test", "whois://whois.test/a.test", "test,whois)/a.test")
	add(schemes, "screenshot:http://a.test/", "screenshot:http://a.test/", "screenshot:http://a.test")
	add(schemes, "youtube-dl:http://a.test/v", "youtube-dl:http://a.test/v", "youtube-dl:http://a.test/v")
	add(schemes, "file:///screenshot.png", "file:///screenshot.png", "file:/screenshot.png")
	return all
}

// indexHabits are those of indexes.
func indexHabits() []habit {
	block := foreignPage("kept words")
	file := one(block)["a.warc.gz"]
	get := []try{{words: "warc get --dir . http://a.test/p", says: []string{"kept words"}}}
	line := `test,a)/p 20200102030405 {"url":"http://a.test/p","mime":"text/html","status":%s,"digest":"-","length":%s,` +
		`"offset":0,"filename":"a.warc.gz","load":{"a":[1]},"isNew":true}` + "\n"
	exchange := func(method, body, words string, second int) string {
		id, date := fmt.Sprintf("<urn:uuid:%d>", second), fmt.Sprintf("WARC-Date: 2020-01-02T03:04:%02dZ", second)
		return gzipMembers(
			foreignRecord("response", "http://a.test/form", foreignPage(words), "WARC-Record-ID: "+id, date),
			foreignRecord("request", "http://a.test/form", method+" /form HTTP/1.1\r\nHost: a.test\r\nContent-Type: "+
				"application/x-www-form-urlencoded\r\n"+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))+body,
				"WARC-Concurrent-To: "+id, date, "Content-Type: application/http; msgtype=request"))
	}
	return []habit{
		{row: "CDXJ with numbers", tries: get, files: map[string]string{
			"a.warc.gz": file, "a.cdxj": "!meta 0 {\"format\":\"cdxj\"}\n" + fmt.Sprintf(line, "200",
				fmt.Sprint(len(file))),
		}},
		{row: "CDXJ with numbers", tries: get, files: map[string]string{
			"a.warc.gz": file, "a.cdxj": fmt.Sprintf(line, `"-"`, `"-"`),
		}},
		{row: "CDX in place of CDXJ", tries: get, files: map[string]string{
			"a.warc.gz": file,
			"a.cdxj": fmt.Sprintf(" CDX N b a m s k r M S V g\ntest,a)/p 20200102030405 http://a.test/p "+
				"text/html 200 - - - %d 0 a.warc.gz\n", len(file)),
		}},
		{row: "a line of an index", files: map[string]string{
			"a.warc.gz": file, "a.cdxj": strings.Repeat("x", 300_000) + "\n" + fmt.Sprintf(line, "200", fmt.Sprint(len(file))),
		}, tries: []try{
			{words: "warc get --dir . http://a.test/p", says: []string{"kept words"}, warns: "a.cdxj at 0: bad field: a line"},
			{words: "feed .", says: []string{"http://a.test/p"}, code: command.ExitFailed,
				warns: "a.cdxj at 0: bad field: line 1 has 300001 bytes, more than 262144; it is left out"},
		}},
		{row: "answers to POST and other methods", files: map[string]string{
			"a.warc.gz": exchange("GET", "", "the form", 5) + exchange("POST", "a=1", "answer one", 6) + exchange("POST",
				"a=2", "answer two", 7),
		}, tries: []try{
			{words: "warc get a.warc.gz http://a.test/form", says: []string{"the form"}},
			{words: "warc index a.warc.gz", says: []string{"test,a)/form 2", "test,a)/form?__wb_method=post&a=1 2",
				"test,a)/form?__wb_method=post&a=2 2"}},
			{words: "feed a.warc.gz", says: []string{`"http://a.test/form"`, "!__wb_method"}},
		}},
	}
}

// fileHabits are those of files.
func fileHabits() []habit {
	pages := warcOf("1.0")
	first, second := gzipMembers(pages[0]), gzipMembers(pages[1])
	extra := gzipWithExtra(pages[0]) + gzipWithExtra(pages[1])
	swallowing := foreignRecord("response", "http://a.test/0", foreignPage("Words"), "Content-Length: 400") + pages[0] +
		pages[1]
	both := slices.Concat(page("a.warc.gz", "http://a.test/1", "test,a)/1", "Words of page 1"),
		page("a.warc.gz", "http://a.test/2", "test,a)/2", "Words of page 2"))
	return []habit{
		{row: "files of other names", files: map[string]string{
			"IAH-20200102030405-00000-host.warc.gz": first, "rec-20200102030405-x.warc.gz": second,
		}, tries: []try{{words: "feed .", says: []string{"http://a.test/1", "http://a.test/2"}}}},
		{row: "gzip heads with a name or extra fields", files: map[string]string{"a.warc.gz": extra}, tries: both},
		{row: "ARC files of version 1 and 2", files: map[string]string{
			"1.arc": strings.Join(arcOf(1), ""), "2.arc.gz": gzipMembers(arcOf(2)...),
		}, tries: slices.Concat(page("1.arc", "http://a.test/2", "test,a)/2", "Words of page 2"),
			page("2.arc.gz", "http://a.test/2", "test,a)/2", "Words of page 2"))},
		{row: "many records in one member", files: map[string]string{"a.warc.gz": gzipMembers(pages[0] + pages[1])},
			tries: []try{
				{words: "warc get a.warc.gz http://a.test/2", says: []string{"Words of page 2"}},
				{words: "warc ls a.warc.gz", says: []string{"http://a.test/1", "http://a.test/2"}},
				{words: "warc index a.warc.gz", code: command.ExitFailed, warns: "warc recompress"},
				{words: "text a.warc.gz", says: []string{"Words of page 1", "Words of page 2"}},
			}},
		{row: "damaged records", files: map[string]string{"a.warc.gz": first + second[:len(second)-40]}, tries: []try{
			{words: "warc get a.warc.gz http://a.test/1", says: []string{"Words of page 1"}},
			{words: "warc ls a.warc.gz", says: []string{"http://a.test/1"}, code: command.ExitFailed,
				warns: "a.warc.gz at "},
			{words: "warc index a.warc.gz", says: []string{"test,a)/1 ", "!a)/2"}, code: command.ExitFailed,
				warns: "a.warc.gz at "},
			{words: "text a.warc.gz", says: []string{"Words of page 1"}, code: command.ExitFailed},
		}},
		{row: "a Content-Length that reaches", files: map[string]string{
			"a.warc": swallowing, "b.warc.gz": gzipMembers(swallowing),
		}, tries: []try{
			{words: "warc ls b.warc.gz", says: []string{"http://a.test/1", "http://a.test/2"}, code: command.ExitFailed},
			{words: "warc get a.warc http://a.test/1", says: []string{"Words of page 1"}},
			{words: "warc index a.warc", says: []string{"test,a)/1 ", "test,a)/2 ", "!a)/0"}, code: command.ExitFailed,
				warns: "a.warc at 0: bad syntax: Content-Length 400"},
			{words: "warc ls a.warc", says: []string{"http://a.test/1", "http://a.test/2"}, code: command.ExitFailed},
			{words: "text a.warc", says: []string{"Words of page 1", "Words of page 2"}, code: command.ExitFailed},
		}},
		{row: "damaged records", files: map[string]string{"a.warc.gz": first + second + strings.Repeat("\x00", 512)},
			tries: []try{
				{words: "warc index a.warc.gz", says: []string{"test,a)/1 ", "test,a)/2 "}, code: command.ExitFailed},
				{words: "text a.warc.gz", says: []string{"Words of page 2"}, code: command.ExitFailed},
			}},
	}
}

// gzipWithExtra packs a text as a member whose head has a name, a comment and an extra field.
func gzipWithExtra(text string) string {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	z.Name, z.Comment, z.Extra = "a.warc", "x", []byte("sl\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	_, _ = io.WriteString(z, text) // a Builder does not fail
	_ = z.Close()
	return b.String()
}

// packageHabits are those of WACZ files.
func packageHabits() []habit {
	file := one(foreignPage("kept words"))["a.warc.gz"]
	line := fmt.Sprintf(`{"url":"http://a.test/p","mime":"text/html","status":200,"length":%d,"offset":0,`+
		`"filename":"a.warc.gz"}`+"\n", len(file))
	files := map[string]string{
		"archive/a.warc.gz": file, "indexes/index.cdx": "test,a)/p 20200102030405 " + line,
		"pages/pages.jsonl": `{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}` + "\n" +
			`{"url":"http://a.test/p","ts":"2020-01-02T03:04:05Z"}` + "\n",
	}
	reads := page("a.wacz", "http://a.test/p", "test,a)/p", "kept words")
	twice := maps.Clone(files)
	block := gzipMembers("test,a)/p 20200102030405 " + line)
	sum := sha256.Sum256([]byte(block))
	idx := "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n"
	for n := range 2 {
		idx += fmt.Sprintf(`test,a)/p {"offset":%d,"length":%d,"digest":"sha256:%x","filename":"index.cdx.gz"}`+"\n",
			n*len(block), len(block), sum)
	}
	delete(twice, "indexes/index.cdx")
	twice["indexes/index.cdx.gz"], twice["indexes/index.idx"] = block+block, idx
	wrong := maps.Clone(files)
	wrong["indexes/index.cdx"] = "test,a)/p 20200102030405 " + strings.Replace(line, `"offset":0`, `"offset":9999`, 1)
	sound := try{words: "warc verify a.wacz", says: []string{"errors 0"}}
	damaged := map[string]string{"a.wacz": foreignWACZ(files, ""), "cut.wacz": foreignWACZ(files, "")[:200]}
	named := []try{
		{words: "warc get --dir . http://a.test/p", says: []string{"kept words"}, warns: "cut.wacz"},
		{words: "warc get . http://a.test/none", code: command.ExitFailed, warns: "not all could be read: cut.wacz"},
	}
	for words, says := range map[string]string{
		"warc ls .": "http://a.test/p", "warc index .": "test,a)/p ", "text .": "kept words", "feed .": "http://a.test/p",
		"warc cat .": "kept words", "warc walls .": "http://a.test/p", "warc verify .": "1 record",
	} {
		named = append(named, try{words: words, says: []string{says}, code: command.ExitFailed,
			warns: "cut.wacz.warc at 0: not a WARC record: zip: not a valid zip file"})
	}
	return []habit{
		{row: "a WACZ that cannot be read, or a part of one", files: damaged, tries: named},
		{row: "a WACZ with an index of one file", files: map[string]string{"a.wacz": foreignWACZ(files, "")},
			tries: append(reads, sound)},
		{row: "a WACZ with an index of one file", files: map[string]string{"a.wacz": foreignWACZ(wrong, "")},
			tries: []try{
				{words: "warc verify a.wacz", code: command.ExitFailed, warns: "no such record"},
				{words: "warc get a.wacz http://a.test/p", says: []string{"kept words"}},
			}},
		{row: "a WACZ that is signed for a domain",
			test: "../../warc/warctool/waczforeign_test.go TestVerifyWACZ_readsASignatureForADomain"},
		{row: "in the index of a WACZ, the first line of a block is also the last one", tries: append(reads, sound,
			try{words: "feed a.wacz", says: []string{"http://a.test/p"}, count: 1}),
			files: map[string]string{"a.wacz": foreignWACZ(twice, "")}},
		{row: "digests of WARC files in datapackage.json that", tries: append(reads,
			try{words: "warc verify a.wacz", code: command.ExitFailed, warns: "its digest is"}), files: map[string]string{
			"a.wacz": foreignWACZ(files, "archive/a.warc.gz"),
		}},
	}
}
