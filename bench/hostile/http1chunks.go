package hostile

import "strings"

// chunks are the cases of bodies in chunks that cannot be followed, or that cost more than they bring.
func chunks() []Case {
	return []Case{
		says("H12", answer{"/overflow", okChunked + "2\r\nhe\r\nFFFFFFFFFFFFFFFFF\r\nllo"},
			answer{"/wraps", okChunked + "2\r\nhe\r\n10000000000000003\r\nllo\r\n0\r\n\r\n"}, // 3 in 64 bits
			answer{"/negative", okChunked + "2\r\nhe\r\n-3\r\nllo\r\n0\r\n\r\n"},
			answer{"/empty", okChunked + "2\r\nhe\r\n\r\nllo\r\n0\r\n\r\n"},
			answer{"/prefixed", okChunked + "2\r\nhe\r\n0x3\r\nllo\r\n0\r\n\r\n"},
			answer{"/too-short", okChunked + "2\r\nhello\r\n0\r\n\r\n"},
			answer{"/no-chunks", okChunked + "<p>he said he would send chunks"}),
		{ID: "H13", Seeds: []string{"/extension", "/extensions", "/bytes", "/zeros"}, Play: func(x *Exchange) {
			x.Write(okChunked)
			switch x.Path {
			case "/extension":
				x.Write("2;a=")
				x.Repeat("x", 1<<20)
				x.Write("\r\nhe\r\n")
			case "/extensions": // each of them within reason
				x.Repeat("2;a="+strings.Repeat("x", 1000)+"\r\nhe\r\n", 1<<20)
			case "/bytes":
				x.Repeat("1\r\nx\r\n", 6*10_000_000)
			case "/zeros": // the size is 2
				x.Repeat("0", 1<<20)
				x.Write("2\r\nhe\r\n")
			}
			x.Write("0\r\n\r\n")
		}},
		{
			ID:    "H14",
			Seeds: []string{"/no-last", "/cut-trailer", "/rubbish", "/long", "/endless"},
			Play: func(x *Exchange) {
				x.Write(okChunked + "2\r\nhe\r\n")
				switch x.Path {
				case "/cut-trailer":
					x.Write("0\r\nX-Trailer: so")
				case "/rubbish":
					x.Write("0\r\nno colon\r\n\x00\xff: \r\n:\r\nContent-Length: 9\r\n\r\n")
				case "/long":
					x.Write("0\r\n")
					x.Repeat("X-Trailer: "+strings.Repeat("x", 100)+"\r\n", 1<<20)
					x.Write("\r\n")
				case "/endless":
					x.Write("0\r\nX-Trailer: ")
					x.Repeat("x", 0)
				}
			},
		},
	}
}
