package driver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Response is what a driver answers in place of a server.
type Response struct {
	Type string // content type
	Body []byte
}

// Server answers requests for a path, and may take its time; where it says false, the real server is asked.
type Server func(path string) (Response, bool)

// Matches says whether a path is like one of the patterns, in which * at the beginning or at the end means anything.
func Matches(path string, patterns []string) bool {
	for _, pattern := range patterns {
		switch head, tail := strings.TrimSuffix(pattern, "*"), strings.TrimPrefix(pattern, "*"); {
		case path == pattern,
			head != pattern && strings.HasPrefix(path, head),
			tail != pattern && strings.HasSuffix(path, tail):
			return true
		}
	}
	return false
}

// CallOf is the expression that calls a function with arguments.
func CallOf(function string, arguments ...any) string {
	var text strings.Builder
	text.WriteString(function + "(")
	for i, a := range arguments {
		if i > 0 {
			text.WriteString(",")
		}
		text.WriteString(Quoted(a))
	}
	text.WriteString(")")
	return text.String()
}

// Quoted is a value as JavaScript.
func Quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(v))
	}
	return string(b)
}
