package hostile

import (
	"strconv"
	"strings"
	"time"
)

// bodies are the cases of bodies that are not as long as they should be, or not what they should be.
func bodies() []Case {
	return []Case{
		{ID: "H06", Seeds: []string{"/close", "/chunks"}, Play: func(x *Exchange) {
			if x.Path == "/chunks" {
				x.Write(okChunked)
				x.Repeat("2000\r\n"+strings.Repeat("endless ", 1<<10)+"\r\n", 0)
				return
			}
			x.Write(okHTML + "\r\n")
			x.Repeat("endless ", 0)
		}},
		aroundLimit(2 << 20),
		says("H08", answer{"/length", okHTML + "Content-Length: 100\r\n\r\n<a href=\"/found\">the rest is missing"},
			answer{"/404", "HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\nnot even"}),
		{ID: "H09", Seeds: []string{"/at-once", "/later"}, Play: func(x *Exchange) {
			x.Write(okHTML + "Content-Length: 2\r\n\r\nhi")
			if x.Path == "/later" {
				x.Pause(late)
			}
			x.Write("surplus")
			x.Keep = true
		}},
		lengths(),
		says(
			"H11",
			answer{"/both", okHTML + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
			answer{
				"/both-1.0",
				"HTTP/1.0 200 OK\r\nContent-Length: 15\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
			},
		),
		{ID: "H26", Seeds: []string{"/closed", "/reset"}, Play: func(x *Exchange) {
			x.Write(okHTML + "Connection: close\r\nContent-Length: 100\r\n\r\n<p>half of")
			if x.Path == "/reset" {
				x.Pause(100 * time.Millisecond) // a reset overtakes what was not read
				x.Reset()
			}
		}},
		types(),
	}
}

// aroundLimit makes case H07: pages of n bytes, of one less, of one more, in each framing. The path says how many
// bytes.
func aroundLimit(n int) Case {
	c := Case{ID: "H07", Play: func(x *Exchange) {
		number, framing, _ := strings.Cut(strings.TrimPrefix(x.Path, "/"), "?")
		size, err := strconv.ParseInt(number, 10, 32)
		if err != nil || size < 100 {
			x.Page("404 Not Found", "", "")
			return
		}
		start := "<!doctype html><title>" + x.Path + "</title>" // no two of them are alike
		size -= int64(len(start))
		switch framing {
		case "length":
			x.Write(okHTML + "Content-Length: " + number + "\r\n\r\n" + start)
			x.Repeat(".", size)
		case "chunked":
			x.Write(
				okChunked + strconv.FormatInt(
					int64(len(start)),
					16,
				) + "\r\n" + start + "\r\n" + strconv.FormatInt(
					size,
					16,
				) + "\r\n",
			)
			x.Repeat(".", size)
			x.Write("\r\n0\r\n\r\n")
		default:
			x.Write(okHTML + "\r\n" + start)
			x.Repeat(".", size)
		}
	}}
	for _, framing := range []string{"length", "chunked", "close"} {
		for size := n - 1; size <= n+1; size++ {
			c.Seeds = append(c.Seeds, "/"+strconv.Itoa(size)+"?"+framing)
		}
	}
	return c
}

// lengths makes case H10: lengths as one may write them.
func lengths() Case {
	of := func(path, fields string) answer { return answer{path, okHTML + fields + "\r\n\r\n" + path[:5]} }
	return says(
		"H10",
		of("/negative", "Content-Length: -5"),
		of("/plus", "Content-Length: +5"),
		of("/hexadecimal", "Content-Length: 0x5"),
		of("/2e64", "Content-Length: 18446744073709551616"),
		of("/2e64and5", "Content-Length: 18446744073709551621"),
		of(
			"/empty",
			"Content-Length: ",
		),
		of("/text", "Content-Length: five"),
		of("/inner-space", "Content-Length: 5 5"),
		of("/list-differs", "Content-Length: 5, 6"),
		of("/fields-differ", "Content-Length: 5\r\nContent-Length: 6"),
		of("/list", "Content-Length: 5, 5"),
		of("/fields", "Content-Length: 5\r\nContent-Length: 5"),
		of("/spaces", "Content-Length:  \t 5  "),
		of("/zeros", "Content-Length: 0000000000000000000000005"),
	)
}

// types makes case H27: what a body is said to be.
func types() Case {
	of := func(path, field string) answer {
		body := "<!doctype html><title>" + path + "</title><a href=\"" + path + "/found\">a link</a>"
		return answer{path, okLine + field + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body}
	}
	return says(
		"H27",
		of("/none", ""),
		of("/empty", "Content-Type:\r\n"),
		of("/image", "Content-Type: image/png\r\n"),
		of(
			"/nonsense",
			"Content-Type: ;;;=/\"\x80\xff\r\n",
		),
		of("/charsets", "Content-Type: text/html; "+strings.Repeat("charset=", 7000)+"\r\n"),
		of("/parameters", "Content-Type: text/html"+strings.Repeat(";a=\"\\\"\"", 6000)+"\r\n"),
		of("/two", "Content-Type: text/html\r\nContent-Type: image/png\r\n"),
		of("/long", "Content-Type: text/html; charset="+strings.Repeat("x", 100_000)+"\r\n"),
		of("/10000-charsets", "Content-Type: text/html; "+strings.Repeat("charset=", 10_000)+"\r\n"),
	)
}
