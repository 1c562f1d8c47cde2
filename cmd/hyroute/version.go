package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/hyroute/hyroute/web"
)

// version is that of the next release.
const version = "0.1.0"

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactly(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			revision := ""
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" && len(s.Value) >= 12 {
						revision = ", " + s.Value[:12]
					}
				}
			}
			page := "without the page"
			if web.Files() != nil {
				page = "with the page"
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "hyroute %s (%s/%s, %s%s, %s)\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version(), revision, page)
			return err
		},
	}
}
