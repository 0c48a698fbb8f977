package main

// reasons say why what fails does fail. The first that speaks for a case counts.
func reasons() []reason {
	const (
		unicode17 = "an ideograph of Unicode 17: golang.org/x/net/idna has the tables of Unicode 15 until Go 1.27, and refuses what it does not know"
		iso2022   = "ISO-2022-JP pages are decoded as a whole, and queries of their links are then written in UTF-8"
		encoders  = "golang.org/x/text encodes without the exception that the Encoding Standard makes for this character"
		entity    = "package html of the standard library does not know the name"
		noLabel   = "a name with an empty label: there is none in the DNS, and a scope looks at the labels behind it"
		padded    = "the space at the end of http-equiv's value is overlooked, and the standard minds it"
		zero      = "NUL at the end of a value is cut off with the white space; the standard makes it U+FFFD before"
		late      = "a meta element behind the first 1,024 bytes is not looked for"
	)
	return []reason{
		{"idna", `"\U0003293120.\u97f3.\ua8661." (A4_2 (ignored))`, unicode17},
		{"idna", `"\U00032b9a9\ua369\u17d3.ss"`, unicode17},
		{"idna", `"\U00032b9a9\ua369\u17d3.SS"`, unicode17},
		{"query", `"\x0eA" in iso-2022-jp`, iso2022},
		{"query", `"\u203e\\" in iso-2022-jp`, iso2022},
		{"query", `"\ue5e5" in gb18030`, encoders},
		{"query", `"\u2212" in shift_jis`, encoders},
		{"robots", "ID_Encoding, line 441:*", "RFC 9309, 2.2.2: %62%61%7A is compared as baz, by the last row of its table; upstream's own remark on this case is " +
			"that it should not be relied on"},
		{"charset-html5lib", "chardet/test_big5.txt", "nothing in the page says so, and nobody guesses from the frequencies of its characters"},
		{"charset-html5lib", "scripted/tests1.dat, case 1*", "a script says so, and no scripts are run"},
		{"charset-html5lib", "tests1.dat, case 12:*", padded},
		{"charset-html5lib", "tests1.dat, case 13:*", padded},
		{"charset-html5lib", "tests1.dat, case 48:*", late},
		{"charset-html5lib", "tests1.dat, case 49:*", late},
		{"charset-html5lib", "tests1.dat, case 50:*", late},
		{"charset-html5lib", "tests1.dat, case 51:*", late},
		{"charset-html5lib", "tests1.dat, case 52:*", late},
		{"charset-html5lib", "tests1.dat, case 53:*", late},
		{"charset-html5lib", "tests1.dat, case 54:*", late},
		{"html5lib", "namedEntities.test: Named entity: nGt; with a semi-colon*", entity},
		{"html5lib", "namedEntities.test: Named entity: nLt; with a semi-colon*", entity},
		{"html5lib", `*: "<a href=*\x00\"><a href=/behind>x</a>"`, zero},
		{"html5lib", `*: "<a href=*\x00'><a href=/behind>x</a>"`, zero},
		{"html5lib", `*: "<a href=*\x00>><a href=/behind>x</a>"`, zero},
		{"psl", `".example.com"`, noLabel},
		{"psl", `".example.example"`, noLabel},
	}
}
