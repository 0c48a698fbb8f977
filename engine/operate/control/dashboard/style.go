package dashboard

// Style is the style sheet of the pages, for other pages that look the same.
func Style() string {
	b, err := files.ReadFile("ui/style.css")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(b)
}
