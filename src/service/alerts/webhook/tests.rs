mod addresses;
mod delivery;
mod spellings;
