// PostGraphile reads it when it is first imported, checks more than in production, and complains when it is not there.
process.env.GRAPHILE_ENV ??= "development";
