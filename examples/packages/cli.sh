npx postwire sandbox &                             # the whole service, locally; it prints the variables to set
npx postwire doctor                                # what is set, what works, and what to do about what does not
npx postwire call getUser --username ada --user-fields public_metrics
npx postwire plan searchRecentPosts --query effect # how many posts, requests and minutes it takes
npx postwire export searchRecentPosts --query effect --out effect.parquet --resume
